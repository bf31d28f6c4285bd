/** Each statement of a call is one statement on one shard, also before vtgate has a plan for it. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { expect, it } from "vitest";
import { TIME_LIMIT } from "../../dev/time-limit.ts";
import { keysByHash, MAX_BATCH } from "../../src/auth/key-lookup.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { createRead } from "../../src/db/query.ts";
import { build } from "../database/rollup/write/built.ts";
import { everyStatement } from "../support/ledger/every-statement.ts";
import { until } from "../support/poll.ts";
import { type Ran, STATEMENT_NAMES, STATEMENTS } from "../support/statements.ts";
import { addProviders, type Keyspace, openKeyspace, SHARDED } from "./keyspaces.ts";

const PROVIDERS = ["96", "97"] as const;
const daysAgo = (days: number) => toDatetime(Date.now() - days * 86_400_000);

/** A statement that vtgate has no plan for: it keeps them by their texts, without comments at the end. */
const marked = (sql: string, mark: string) => sql.replace("SELECT ", `SELECT /* ${mark} */ `);

/**
 * The statements of all RPCs as the service sends them, for a provider with a rollup and for one without. The list of
 * providers is none of them: it asks all shards.
 */
async function sent({ pool, targets }: Keyspace): Promise<Ran[]> {
  for (const id of PROVIDERS) {
    await pool("charges").insert({
      provider_id: id,
      server_id: 1,
      charged_at: daysAgo(100),
      gross: "1.00",
    });
  }
  for (const target of targets) {
    const [row] = await target("providers").where({ id: PROVIDERS[0] }).select("id");
    if (row) await build(target, PROVIDERS[0], daysAgo(0), "P1D");
  }
  await pool("rollups").where({ provider_id: PROVIDERS[1] }).del();
  // Clocks change twice a year, so at least once in 300 days.
  const from = daysAgo(300).slice(0, 10);
  const sent = await everyStatement(createRead(pool), PROVIDERS.map(BigInt), [
    ["", ""],
    [from, ""],
  ]);
  expect([...sent.keys()].toSorted()).toEqual(STATEMENT_NAMES.toSorted());
  return [...sent.values()].filter(({ name }) => name !== "providersAfter");
}

it("each statement is one on one shard", async () => {
  await using keyspace = await openKeyspace(SHARDED);
  await addProviders(keyspace, PROVIDERS.map(BigInt));
  const read = createRead(keyspace.pool);
  for (const { name, bindings } of await sent(keyspace)) {
    const { sql } = STATEMENTS[name];
    const unplanned = marked(sql, crypto.randomUUID());
    const began = performance.now();
    const signal = AbortSignal.timeout(TIME_LIMIT);
    await read(({ query }) => query(unplanned, bindings, name), { signal });
    console.log(`${name}: first answer after ${(performance.now() - began).toFixed(0)} ms`);
    const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${sql}`, bindings as string[]);
    expect(queries, name).toHaveLength(1);
  }
});

/** The file of vtgate's `--log-queries-to-file`: the only place that tells how many statements one became on shards. */
const QUERY_LOG = process.env.VITESS_QUERIES;
const CALLS = 24;

it.skipIf(QUERY_LOG === undefined)(
  "many calls at once of a statement that vtgate has not seen are one statement on one shard each",
  async () => {
    await using keyspace = await openKeyspace(SHARDED, { maxConnections: CALLS });
    await addProviders(keyspace, PROVIDERS.map(BigInt));
    const read = createRead(keyspace.pool, { poolWait: TIME_LIMIT });
    for (const { name, bindings } of await sent(keyspace)) {
      const mark = crypto.randomUUID();
      const unplanned = marked(STATEMENTS[name].sql, mark);
      const { size: start } = await stat(QUERY_LOG ?? "");
      const signal = AbortSignal.timeout(TIME_LIMIT);
      // Of one owner not all of them would be under way at once.
      const calls = Array.from({ length: CALLS }, (_, nth) =>
        read(({ query }) => query(unplanned, bindings, name), { owner: `${nth}`, signal }),
      );
      await Promise.all(calls);
      const logged = () => loggedSince(start, mark);
      await until(async () => (await logged()).length >= CALLS);
      expect(await logged(), name).toEqual(Array(CALLS).fill(1));
    }
  },
);

/** How many statements on shards each one with a mark became that vtgate logged from a place in its file on. */
async function loggedSince(start: number, mark: string): Promise<number[]> {
  const written = createReadStream(QUERY_LOG ?? "", { start, encoding: "utf8" });
  const lines = (await written.toArray()).join("").split("\n");
  return lines
    .slice(0, -1) // what follows the last end of a line is being written
    .filter((line) => line.includes(mark) && !line.startsWith("Prepare\t"))
    .map((line) => Number(line.split("\t")[14]));
}

it("a look-up of many keys is one statement, which needs no shard", async () => {
  await using keyspace = await openKeyspace(SHARDED);
  const hashes = Array.from({ length: MAX_BATCH }, (_, nth) => nth.toString(16).padStart(64, "0"));
  const [queries] = await keyspace.pool.raw(`VEXPLAIN QUERIES ${keysByHash(MAX_BATCH)}`, hashes);
  expect(queries).toMatchObject([{ keyspace: "shared" }]);
});
