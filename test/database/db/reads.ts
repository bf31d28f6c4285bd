/** Reads of a pool that connects through a proxy, new ones for each test of a file. */
import type { Knex } from "knex";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRead, type Read, type ReadLimits } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";

/** A caller that never leaves. */
export const { signal } = new AbortController();

/** Takes longer than any test, unless something ends it. Waits once for each provider. */
export const SLOW = "SELECT COUNT(*) AS slow FROM providers WHERE SLEEP(30) = 0";

/** The rows of a read, or the kind of its error. */
export const outcomeOf = (result: Promise<unknown>) =>
  result.catch((thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown));

/** The time limits of reads, and of new connections. */
export interface Limits extends ReadLimits {
  /** In ms. */
  readonly connectTimeout?: number;
}

/** The reads of the present test. */
export interface Reads {
  readonly database: TestDatabase;
  readonly processes: ProcessList;
  readonly proxy: DatabaseProxy;
  readonly pool: Knex;
  readonly read: Read;
  /** Replaces the pool by one that has not connected yet. */
  usePool(limits: Limits): Promise<void>;
  /** Reads "1" for an owner. Resolves to the rows, or to the kind of the error. */
  readOne(owner?: string): Promise<unknown>;
  /** Opens as many connections, which are idle afterwards. Resolves to the ids of their sessions. */
  fillPool(): Promise<number[]>;
  /** Waits until as many slow statements run. */
  untilSlow(count: number): Promise<void>;
}

/**
 * Registers the hooks of a file. The database has one provider.
 *
 * @param size the number of connections of the pool
 */
export function createReads(size: number, limits: Limits): Reads {
  let [database, processes]: [TestDatabase?, ProcessList?] = [];
  let [proxy, pool, read]: [DatabaseProxy?, Knex?, Read?] = [];
  beforeAll(async () => {
    database = await createDatabase();
    processes = await watchProcesses(database.name);
  });
  afterAll(async () => {
    await processes?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    await database?.knex("providers").insert({ id: 1, name: "provider" });
    proxy = await startDatabaseProxy(reads.database.url);
    await reads.usePool(limits);
  });
  afterEach(async () => {
    await pool?.destroy();
    await proxy?.close();
    await database?.knex("providers").del();
  });
  const ready = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("asked for outside a test");
    return part;
  };
  const reads: Reads = {
    get database() {
      return ready(database);
    },
    get processes() {
      return ready(processes);
    },
    get proxy() {
      return ready(proxy);
    },
    get pool() {
      return ready(pool);
    },
    get read() {
      return ready(read);
    },
    async usePool(limits) {
      await pool?.destroy();
      const options = { readOnly: true, maxConnections: size, ...limits };
      pool = createPool(parseDatabaseUrl(reads.proxy.url), options);
      read = createRead(pool, limits);
    },
    readOne: (owner = "") => outcomeOf(reads.read("SELECT '1'", [], { signal, owner })),
    fillPool: () =>
      Promise.all(
        Array.from({ length: size }, async (_, owner) => {
          const options = { signal, owner: `${owner}` };
          const rows = await reads.read("SELECT CONNECTION_ID(), SLEEP(0.1)", [], options);
          return Number(rows[0]?.[0]);
        }),
      ),
    untilSlow: (count) =>
      until(10_000, async () => (await reads.processes.running("AS slow")).length === count),
  };
  return reads;
}
