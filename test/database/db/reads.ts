/** Reads of a pool that connects through a proxy, new ones for each test of a file. */
import type { Knex } from "knex";
import { afterAll, afterEach, beforeEach } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import {
  createRead,
  type Read,
  type ReadLimits,
  type ReadOptions,
  type Row,
} from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { testPool } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { databaseOfFile } from "../file-database.ts";

/** A caller that never leaves. */
export const { signal } = new AbortController();

/** The name of a statement. */
export const operation = "test";

/** Takes as long as a wait may, unless something ends it. Waits once for each provider. */
export const SLOW = `SELECT COUNT(*) AS slow FROM providers WHERE SLEEP(${TIME_LIMIT / 1_000}) = 0`;

/** Limits that a busy machine does not reach. */
export const UNLIMITED = { maxStatement: TIME_LIMIT, poolWait: TIME_LIMIT };

/** The rows of a read, or the kind of its error. */
export const outcomeOf = (result: Promise<unknown>) =>
  result.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));

/** A read of one statement. */
export type ReadOne = (
  sql: string,
  bindings: readonly string[],
  options: ReadOptions & { readonly operation: string },
) => Promise<Row[]>;

/** Reads of one statement each. */
export const single =
  (read: Read): ReadOne =>
  (sql, bindings, { operation, ...options }) =>
    read(({ query }) => query(sql, bindings, operation), options);

/** Opens connections, which are idle afterwards. Resolves to the ids of their sessions. */
export async function openConnections({ client }: Knex, count: number): Promise<number[]> {
  const open = Array.from({ length: count }, () => client.acquireConnection());
  const opened = await Promise.allSettled<{ readonly threadId: number }>(open);
  for (const one of opened) if (one.status === "fulfilled") client.releaseConnection(one.value);
  return (await Promise.all(open)).map(({ threadId }) => threadId);
}

/** The time limits of reads, and of new connections. */
export interface Limits extends ReadLimits {
  /** In ms. */
  readonly connectTimeout?: number;
}

/** What is new for each test. */
interface Connected {
  proxy: DatabaseProxy;
  pool: Knex;
  read: ReadOne;
}

/**
 * Creates the reads of a file, at whose top this is awaited. The database has one provider.
 *
 * @param size the number of connections of the pool
 */
export async function createReads(size: number, limits: Limits) {
  const database = await databaseOfFile(["providers"]);
  const processes = await watchProcesses(database.name);
  const reads = Object.assign({} as Connected, {
    database,
    processes,
    /** Replaces the pool by one that has not connected yet. */
    async usePool(limits: Limits): Promise<void> {
      await reads.pool?.destroy();
      const options = { readOnly: true, maxConnections: size, ...limits };
      reads.pool = testPool(reads.proxy.url, options);
      reads.read = single(createRead(reads.pool, limits));
    },
    /** Reads "1" for an owner. Resolves to the rows, or to the kind of the error. */
    readOne: (owner = "") => outcomeOf(reads.read("SELECT '1'", [], { signal, owner, operation })),
    /** Opens all connections. Resolves to the ids of their sessions. */
    fillPool: () => openConnections(reads.pool, size),
    /** Waits until as many slow statements sleep, or until none runs. */
    untilSlow: (count: number) =>
      until(async () => {
        const slow = await (count === 0 ? processes.running("AS slow") : processes.sleeping());
        return slow.length === count;
      }),
  });
  beforeEach(async () => {
    await database.knex("providers").insert({ id: 1, name: "provider" });
    reads.proxy = await startDatabaseProxy(database.url);
    await reads.usePool(limits);
  });
  afterEach(async () => {
    await reads.pool.destroy();
    await reads.proxy.close();
  });
  afterAll(() => processes.close());
  return reads;
}
