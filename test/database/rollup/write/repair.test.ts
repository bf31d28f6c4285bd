/** What a refresh adds to a rollup, and where it moves the watermark. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { build, charge, rollupOf, WATERMARK } from "./built.ts";

const NEXT = "2026-01-20 12:05:00.000";
const LATER = "2026-01-20 12:10:00.000";
const LEDGER = ["providers", "charges", "rentals"];
const ROLLUP = Object.values(TABLES);

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
const refreshTo = async (until: string) =>
  (await refresh(database.knex, [{ provider: "1", size: 1 }], until))[0];

it("a charge recorded before the watermark, but committed after it had passed, is added by the next refresh", async () => {
  await database
    .knex("charges")
    .insert(charge("2025-09-05 00:00:00.000", "2026-01-20 11:30:00.000"));
  expect(await differences()).toHaveLength(2); // missing in its segment and in its month
  expect(await refreshTo(NEXT)).toBe(1);
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "2.00" });
  expect(await differences()).toEqual([]);
});

it("a rental updated before the watermark, but committed after it had passed, is added too", async () => {
  await database.knex("rentals").insert({
    provider_id: 1,
    server_id: 1,
    started_at: "2025-09-05 00:00:00.000",
    ended_at: "2025-10-05 00:00:00.000",
    updated_at: "2026-01-20 11:30:00.000",
  });
  expect(await differences()).not.toEqual([]);
  await refreshTo(NEXT);
  expect(await differences()).toEqual([]);
});

it("a charge recorded after the watermark is added when the watermark passes it", async () => {
  await database
    .knex("charges")
    .insert(charge("2025-11-01 00:00:00.000", "2026-01-20 12:07:00.000"));
  expect(await refreshTo(NEXT)).toBe(0);
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "1.00" });
  expect(await refreshTo(LATER)).toBe(1);
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: LATER, gross: "2.00" });
});

it("a charge recorded exactly at the watermark is added once", async () => {
  await database.knex("charges").insert(charge("2025-11-01 00:00:00.000", NEXT));
  expect(await refreshTo(NEXT)).toBe(1);
  expect(await refreshTo(LATER)).toBe(0);
  expect(await differences()).toEqual([]);
});

it("the watermark never moves back", async () => {
  await refreshTo(NEXT);
  expect(await refreshTo(WATERMARK)).toBe(0);
  expect(await refreshTo(NEXT)).toBe(0);
  expect(await rollupOf(database.knex, "1")).toMatchObject({ watermark: NEXT });
});

it("of concurrent refreshes one writes, and the others write nothing", async () => {
  await database.knex("charges").insert(charge("2025-11-01 00:00:00.000", NEXT));
  const added = await Promise.all([refreshTo(NEXT), refreshTo(NEXT), refreshTo(NEXT)]);
  expect(added.sort()).toEqual([0, 0, 1]);
  expect(await rollupOf(database.knex, "1")).toEqual({ watermark: NEXT, gross: "2.00" });
});

it("without a rollup, a build is needed", async () => {
  expect(await refresh(database.knex, [{ provider: "2", size: 1 }], NEXT)).toEqual(["build"]);
});

it("a change that is too large for one transaction needs a build, which the next run does", async () => {
  // 9,000 checkpoints, and a change of 250 servers before all of them: 2.25 million rows.
  await database.knex.raw(
    `INSERT INTO rollup_checkpoints (provider_id, generation, at, gross) VALUES ${Array.from(
      { length: 9_000 },
      (_, n) => `(1, 1, TIMESTAMPADD(SECOND, ${n}, '2025-11-02'), 1.00)`,
    )}`,
  );
  const servers = Array.from({ length: 250 }, (_, index) => index + 1);
  await database
    .knex("charges")
    .insert(servers.map((id) => charge("2025-09-01 00:00:00.000", NEXT, "1.00", id)));
  expect(await refreshTo(LATER)).toBe("build");
  await database.knex("providers").insert({ id: 1, name: "first" });
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ providers: 1, charges: 251 });
  expect(await rollupOf(database.knex, "1")).toMatchObject({ gross: "251.00" });
  expect(await differences()).toEqual([]);
});
