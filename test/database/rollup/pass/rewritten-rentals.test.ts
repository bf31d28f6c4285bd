/** Ended rentals that are written again without a change. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import type { Difference } from "../../../../src/rollup/write/difference.ts";
import { changedSpans } from "../../../../src/rollup/write/ledger/changed-spans.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf } from "../../../support/ledger/call.ts";
import { createComparison } from "../../../support/rollup/snapshot-oracle.ts";
import { build, charge } from "../write/built.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  const tables = ["providers", "servers", "charges", "rentals", ...Object.values(TABLES)];
  for (const table of tables) await database.knex(table).del();
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await database.knex("servers").insert({
    ...{ id: 1, provider_id: 1, uuid: "server-1", name: "a", type: "GPU", status: "Active" },
    price_per_hour: "1.00",
  });
  const days = Array.from({ length: 20 }, (_, n) => `2025-09-${String(n + 1).padStart(2, "0")}`);
  await database.knex("charges").insert(days.map((day) => charge(day, "2025-12-01")));
  await database.knex("rentals").insert(
    days.slice(0, 15).map((day, n) => ({
      ...{ id: n + 1, provider_id: 1, server_id: 1, started_at: day, ended_at: days[n + 3] },
      updated_at: "2025-12-01",
    })),
  );
});
afterAll(() => database.drop());

const differences = () => Array.fromAsync(verify(database.knex, "1"));
const state = () => database.knex(TABLES.state).first("generation", "revision", "cut");

/** Runs once with a margin, so that what is written during the test stays above the watermark. */
async function pass(margin: number) {
  const found: Difference[] = [];
  const repaired = (difference: Difference) => found.push(difference);
  const { charges } = await rollUp(database.knex, { margin, checkPeriod: 1_000, repaired });
  return { charges, found };
}
const NONE = { charges: 0, found: [] };

const datetime = (instant: string) => toDatetime(Date.parse(instant));

it.each([
  ["an UPDATE of one", "UPDATE rentals SET updated_at = NOW(3) WHERE id = 7"],
  ["an UPDATE of all", "UPDATE rentals SET updated_at = NOW(3)"],
  [
    "a REPLACE",
    "REPLACE INTO rentals (id, provider_id, server_id, instance_id, started_at, ended_at) SELECT id, provider_id, server_id, instance_id, started_at, ended_at FROM (SELECT * FROM rentals) AS copy",
  ],
])(
  "%s changes no figure, with and without cached totals, before and after every run",
  async (_, sql) => {
    await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
    const compare = createComparison(database.knex);
    await compare("1");
    await database.knex.raw(sql);
    expect((await compare("1")).cacheHits).toBeGreaterThan(0);
    const before = await state();
    expect(await pass(600_000)).toEqual(NONE);
    await compare("1");
    expect(await pass(0)).toEqual(NONE);
    await compare("1");
    // The watermark has passed the writes, and no figure was written.
    const after = await state();
    expect(after).toMatchObject({ generation: before.generation, revision: before.revision });
    expect(after.cut > before.cut).toBe(true);
    expect(await differences()).toEqual([]);
  },
);

it("all of them count once in periods that begin or end beside them, in an edge", async () => {
  // Charges, and so checkpoints, are at midnight; rentals from 06:00 to 18:00.
  await database.knex.raw(
    "UPDATE rentals SET started_at = started_at + INTERVAL 6 HOUR, ended_at = ended_at + INTERVAL 18 HOUR, updated_at = '2025-12-01'",
  );
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  const rentals = await database.knex("rentals").select("started_at", "ended_at");
  const service = createRevenueService(createRead(database.knex));
  const at = (day: number, hour: string) => `2025-09-${String(day).padStart(2, "0")}T${hour}:00Z`;
  for (const [from, to] of [
    ["03:00", "03:00"],
    ["12:00", "03:00"],
    ["21:00", "03:00"],
    ["21:00", "12:00"],
    ["21:00", "21:00"],
  ] as const) {
    for (let day = 1; day <= 17; day++) {
      const [start, end] = [at(day, from), at(day + 3, to)];
      const ran = rentals.filter(
        ({ started_at, ended_at }) => started_at <= datetime(end) && ended_at >= datetime(start),
      );
      for (const _ of ["read", "cached"]) {
        const answer = await breakdownOf(service, 1n, "2026-01-20T00:00:00Z", start, end);
        expect(answer, `${start} to ${end}`).toMatchObject({ totalRentals: ran.length });
      }
    }
  }
});

it("one that is written again during a build is neither lost nor counted twice", async () => {
  const begun = await beginBuild(database.knex, "1", "2026-01-20 12:00:00.000");
  for (let segment = 0; segment < 6; segment++) await buildSegment(database.knex, begun, 1);
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  await createComparison(database.knex)("1");
  expect(await differences()).toEqual([]);
  expect(await pass(0)).toEqual(NONE);
  await createComparison(database.knex)("1");
  expect(await differences()).toEqual([]);
});

it("one that ended before the watermark, but was written later, counts once and is listed then", async () => {
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  await database.knex("rentals").insert({
    ...{ id: 99, provider_id: 1, server_id: 1 },
    ...{ started_at: "2025-09-02", ended_at: "2025-09-09" },
  });
  await createComparison(database.knex)("1");
  expect(await pass(0)).toEqual(NONE);
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  await createComparison(database.knex)("1");
  expect(await differences()).toEqual([]);
});

it("a list that is incomplete, as after an upgrade, is completed by the checks of a run", async () => {
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  await database.knex(TABLES.rentals).del();
  await database.knex(TABLES.rentals).insert({
    ...{ provider_id: 1, generation: 1, rental_id: 5, ended_at: "2025-09-09 12:00:00.000" },
  });
  expect(await differences()).not.toEqual([]);
  const { revision } = await state();
  expect(await pass(0)).toEqual(NONE);
  expect(await state()).toMatchObject({ revision: revision + 1 });
  expect(await differences()).toEqual([]);
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  await createComparison(database.knex)("1");
});

it("a run compares no segment because of them, and those of a rental that ended later", async () => {
  await build(database.knex, "1", "2026-01-20 12:00:00.000", 1);
  await database.knex.raw("UPDATE rentals SET updated_at = NOW(3)");
  const { generation, cut: watermark } = await state();
  const UNTIL = "9000-01-01 00:00:00.000";
  const spans = async (since: string) => {
    const rollup = { provider: "1", generation: String(generation), watermark: since };
    return (await database.knex.transaction((reader) => changedSpans(reader, [rollup], UNTIL)))[0];
  };
  expect(await spans(watermark)).toMatchObject({ charges: [], rentals: [] });
  // Also when it looks back at what was written shortly before its watermark.
  const [[{ now }]] = await database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
  expect(await spans(now)).toMatchObject({ charges: [], rentals: [] });
  await database.knex("rentals").where({ id: 3 }).update({ ended_at: "2025-09-20" });
  const { rentals = [] } = (await spans(watermark)) ?? {};
  const days = new Set(rentals.flatMap(({ from, to }) => [from.slice(0, 10), to.slice(0, 10)]));
  expect([...days].sort()).toEqual(["2025-09-03", "2025-09-20"]);
});
