/** Each statement of a call is one statement on one shard, and vtgate plans it in a moment. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { expect, it } from "vitest";
import { keysByHash, MAX_BATCH } from "../../src/auth/key-lookup.ts";
import { createRead } from "../../src/db/query.ts";
import { until } from "../support/poll.ts";
import { bindingsOf, STATEMENT_NAMES, STATEMENTS } from "../support/statements.ts";
import { addProviders, openKeyspace, SHARDED } from "./keyspaces.ts";

/** What a statement may cost before the first answer, in ms. On a busy machine this is a lot. */
const FIRST = 3_000;

const VALUES = {
  provider: "96",
  start: "2026-10-01 00:00:00.000",
  end: "2026-10-31 23:59:59.999",
  watermark: "2026-10-20 00:00:00.000",
  first: "2026-10-02 00:00:00.000",
  last: "2026-10-19 00:00:00.000",
};

/** A statement that vtgate has no plan for: it keeps them by their texts, without comments at the end. */
const marked = (sql: string, mark: string) => sql.replace("SELECT ", `SELECT /* ${mark} */ `);

it.each(STATEMENT_NAMES)("%s", async (name) => {
  await using keyspace = await openKeyspace(SHARDED);
  await addProviders(keyspace, [96n]);
  const { sql } = STATEMENTS[name];
  const bindings = bindingsOf(STATEMENTS[name], VALUES);
  const unplanned = marked(sql, crypto.randomUUID());
  const began = performance.now();
  const signal = AbortSignal.timeout(60_000);
  await createRead(keyspace.pool)(unplanned, bindings, { signal, operation: name });
  const took = performance.now() - began;
  console.log(`${name}: first answer after ${took.toFixed(0)} ms`);
  expect(took).toBeLessThan(FIRST);
  const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${sql}`, bindings);
  expect(queries).toHaveLength(1);
});

/** The file of vtgate's `--log-queries-to-file`: the only place that tells how many statements one became on shards. */
const QUERY_LOG = process.env.VITESS_QUERIES;
const CALLS = 24;

it.skipIf(QUERY_LOG === undefined)(
  "many calls at once of a statement that vtgate has not seen are one statement on one shard each",
  async () => {
    await using keyspace = await openKeyspace(SHARDED);
    await addProviders(keyspace, [96n]);
    const { sql } = STATEMENTS.fullBreakdown;
    const mark = crypto.randomUUID();
    const read = createRead(keyspace.pool);
    const { size: start } = await stat(QUERY_LOG ?? "");
    const options = { signal: AbortSignal.timeout(120_000), operation: "new" };
    const bindings = bindingsOf(STATEMENTS.fullBreakdown, VALUES);
    const calls = Array.from({ length: CALLS }, () => read(marked(sql, mark), bindings, options));
    await Promise.all(calls);
    const logged = async () => {
      const written = createReadStream(QUERY_LOG ?? "", { start, encoding: "utf8" });
      const lines = (await written.toArray()).join("").split("\n");
      return lines.filter((line) => line.includes(mark) && !line.startsWith("Prepare\t"));
    };
    await until(async () => (await logged()).length >= CALLS);
    const shardStatements = (await logged()).map((line) => Number(line.split("\t")[14]));
    expect(shardStatements).toEqual(Array(CALLS).fill(1));
  },
);

it("a look-up of many keys is one statement, which needs no shard", async () => {
  await using keyspace = await openKeyspace(SHARDED);
  const hashes = Array.from({ length: MAX_BATCH }, (_, nth) => nth.toString(16).padStart(64, "0"));
  const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${keysByHash(MAX_BATCH)}`, hashes);
  expect(queries).toMatchObject([{ keyspace: "shared" }]);
});
