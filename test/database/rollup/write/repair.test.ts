/** What an refresh takes up, and that it goes forward alone. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { build, charge, rollupOf } from "./built.ts";

const WATERMARK = "2026-01-20 12:00:00.000";
const NEXT = "2026-01-20 12:05:00.000";
const LATER = "2026-01-20 12:10:00.000";
const LEDGER = ["providers", "charges", "rentals"];
const ROLLUP = ["rollups", "rollup_checkpoints", "rollup_figures", "rollup_months"];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  for (const table of [...LEDGER, ...ROLLUP]) {
    await database.knex(table).del();
  }
  await database
    .knex("charges")
    .insert(charge("2025-10-01 00:00:00.000", "2025-10-01 00:00:01.000"));
  await build(database.knex, "1", WATERMARK, 1);
});
afterAll(() => database.drop());

const differences = () => Array.fromAsync(verify(database.knex, "1"));
const move = (until: string) => refresh(database.knex, "1", until, 1);

it("a charge that was recorded before the watermark, and became visible after it, is taken up by the next", async () => {
  await database
    .knex("charges")
    .insert(charge("2025-09-05 00:00:00.000", "2026-01-20 11:30:00.000"));
  expect(await differences()).toHaveLength(2); // until then it is missing, in its segment and its month
  expect(await move(NEXT)).toEqual({ outcome: "advanced", watermark: NEXT, charges: 1 });
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "2.00" });
  expect(await differences()).toEqual([]);
});

it("a rental whose end became visible after the watermark is taken up too", async () => {
  await database.knex("rentals").insert({
    provider_id: 1,
    server_id: 1,
    started_at: "2025-09-05 00:00:00.000",
    ended_at: "2025-10-05 00:00:00.000",
    updated_at: "2026-01-20 11:30:00.000",
  });
  expect(await differences()).not.toEqual([]);
  await move(NEXT);
  expect(await differences()).toEqual([]);
});

it("one that was recorded in the future is not lost: it is taken up when the watermark comes there", async () => {
  await database
    .knex("charges")
    .insert(charge("2025-11-01 00:00:00.000", "2026-01-20 12:07:00.000"));
  expect(await move(NEXT)).toMatchObject({ charges: 0 });
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "1.00" });
  expect(await move(LATER)).toMatchObject({ charges: 1 });
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: LATER, gross: "2.00" });
});

it("one recorded at the very watermark is in it, and is not taken up twice", async () => {
  await database.knex("charges").insert(charge("2025-11-01 00:00:00.000", NEXT));
  expect(await move(NEXT)).toMatchObject({ charges: 1 });
  expect(await move(LATER)).toMatchObject({ charges: 0 });
  expect(await differences()).toEqual([]);
});

it("the watermark never moves back", async () => {
  await move(NEXT);
  expect(await move(WATERMARK)).toEqual({ outcome: "current" });
  expect(await move(NEXT)).toEqual({ outcome: "current" });
  expect(await rollupOf(database.knex, "1")).toMatchObject({ watermark: NEXT });
});

it("of two at once one does the work, the other leaves it as it is", async () => {
  await database.knex("charges").insert(charge("2025-11-01 00:00:00.000", NEXT));
  const outcomes = await Promise.all([move(NEXT), move(NEXT), move(NEXT)]);
  expect(outcomes.filter(({ outcome }) => outcome === "advanced")).toHaveLength(1);
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "2.00" });
});

it("without a rollup, a build is asked for", async () => {
  expect(await refresh(database.knex, "2", NEXT, 1)).toEqual({ outcome: "build" });
});

it("where more would change than one transaction should hold, a build is asked for, and done by a run", async () => {
  // A thousand checkpoints of nothing more, and a change of 250 servers before all of them.
  await database.knex.raw(
    `INSERT INTO rollup_checkpoints (provider_id, generation, at, gross) VALUES ${Array.from(
      { length: 1_000 },
      (_, n) => `(1, 1, TIMESTAMPADD(SECOND, ${n}, '2025-11-02'), 1.00)`,
    )}`,
  );
  const servers = Array.from({ length: 250 }, (_, index) => index + 1);
  await database
    .knex("charges")
    .insert(servers.map((id) => charge("2025-09-01 00:00:00.000", NEXT, "1.00", id)));
  expect(await move(LATER)).toEqual({ outcome: "build" });
  await database.knex("providers").insert({ id: 1, name: "first" });
  expect(await rollUp(database.knex, { margin: 0 })).toEqual({ providers: 1, charges: 251 });
  expect(await rollupOf(database.knex, "1")).toMatchObject({ gross: "251.00" });
  expect(await differences()).toEqual([]);
});
