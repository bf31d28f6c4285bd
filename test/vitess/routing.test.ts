/** Each statement of a call is one statement on one shard, and vtgate plans it in a moment. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { TIME_LIMIT } from "../../dev/time-limit.ts";
import {
  GetDailyRevenueRequestSchema,
  GetOverviewRequestSchema,
  GetServerBreakdownRequestSchema,
  ListPayoutsRequestSchema,
} from "../../gen/revenue/v1/revenue_pb.ts";
import { keysByHash, MAX_BATCH } from "../../src/auth/key-lookup.ts";
import { createRead } from "../../src/db/query.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { rollUp } from "../../src/rollup/write/run.ts";
import { until } from "../support/poll.ts";
import {
  type Ran,
  recordStatements,
  STATEMENTS,
  type StatementName,
} from "../support/statements.ts";
import { addProviders, type Keyspace, openKeyspace, SHARDED } from "./keyspaces.ts";

const PROVIDERS = ["96", "97"] as const;

/** What a statement may cost before the first answer, in ms. On a busy machine this is a lot. */
const FIRST = 3_000;

/** A statement that vtgate has no plan for: it keeps them by their texts, without comments at the end. */
const marked = (sql: string, mark: string) => sql.replace("SELECT ", `SELECT /* ${mark} */ `);

/** The statements of all RPCs as the service sends them, for a provider with a rollup and for one without. */
async function sent({ pool, targets }: Keyspace): Promise<Map<StatementName, Ran>> {
  for (const id of PROVIDERS) {
    await pool("charges").insert({
      provider_id: id,
      server_id: 1,
      charged_at: "2026-01-01",
      gross: "1.00",
    });
  }
  for (const target of targets) await rollUp(target, { margin: 0 });
  await pool("rollups").where({ provider_id: PROVIDERS[1] }).del();
  const recorded = recordStatements(createRead(pool));
  const sent = new Map<StatementName, Ran>();
  for (const id of PROVIDERS) {
    const service = createRevenueService(recorded.read);
    const call = { caller: { providerId: id }, signal: AbortSignal.timeout(TIME_LIMIT) };
    await service.listPayouts(create(ListPayoutsRequestSchema), call);
    for (const zone of ["UTC", "Asia/Kolkata"]) {
      for (const startDate of ["", "", "2026-01-01"]) {
        const request = { startDate, endDate: "", timeZone: zone };
        await service.getOverview(create(GetOverviewRequestSchema), call);
        await service.getServerBreakdown(create(GetServerBreakdownRequestSchema, request), call);
        await service.getDailyRevenue(create(GetDailyRevenueRequestSchema, request), call);
      }
    }
    for (const ran of recorded.take()) sent.set(ran.name, ran);
  }
  return sent;
}

it("each statement is one on one shard, and planned in a moment", async () => {
  await using keyspace = await openKeyspace(SHARDED);
  await addProviders(keyspace, PROVIDERS.map(BigInt));
  const read = createRead(keyspace.pool);
  for (const { name, bindings } of (await sent(keyspace)).values()) {
    const { sql } = STATEMENTS[name];
    const unplanned = marked(sql, crypto.randomUUID());
    const began = performance.now();
    const signal = AbortSignal.timeout(TIME_LIMIT);
    await read(({ query }) => query(unplanned, bindings, name), { signal });
    const took = performance.now() - began;
    console.log(`${name}: first answer after ${took.toFixed(0)} ms`);
    expect(took, name).toBeLessThan(FIRST);
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
    await using keyspace = await openKeyspace(SHARDED);
    await addProviders(keyspace, PROVIDERS.map(BigInt));
    const { sql } = STATEMENTS.fullBreakdown;
    const { bindings = [] } = (await sent(keyspace)).get("fullBreakdown") ?? {};
    const mark = crypto.randomUUID();
    const read = createRead(keyspace.pool);
    const { size: start } = await stat(QUERY_LOG ?? "");
    const options = { signal: AbortSignal.timeout(TIME_LIMIT) };
    const calls = Array.from({ length: CALLS }, () =>
      read(({ query }) => query(marked(sql, mark), bindings, "new"), options),
    );
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
