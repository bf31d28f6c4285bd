/** Which providers a run works on, and what it leaves alone. */
import { beforeEach, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { FORMAT } from "../../../../src/rollup/sums.ts";
import { findNews } from "../../../../src/rollup/write/run/news.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { charge, rental } from "../write/built.ts";

/** Ids that are equal as floating-point numbers. */
const LARGE = ["9007199254740992", "9007199254740993"];
const WATERMARK = "2026-01-20 12:00:00.000";
/** A row of `rollups`. */
const rollup = (provider: number | string, watermark = WATERMARK) => ({
  provider_id: provider,
  format: FORMAT,
  building: 0,
  slot: 0,
  version: 1,
  watermark,
  leaf: "P1D",
  check_at: "2026-02-01",
});
const CLOCK = { until: "2026-01-20 12:45:00.000" };

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
beforeEach(async () => {
  await knex("providers").insert([1, 2, 3].map((id) => ({ id, name: "provider" })));
  await knex(TABLES.rollups).insert(rollup(1));
});

const news = async (all = false) =>
  (await findNews(knex, ["1", "2", "3"], CLOCK, { all, minRows: 1 })).map(
    ({ provider }) => provider,
  );
const at = (time: string) => `2026-01-20 ${time}:00.000`;

it("providers without rows have none, with and without a rollup", async () => {
  expect(await news()).toEqual([]);
  expect(await news(true)).toEqual(["1"]);
});

it.each([
  ["recorded at the watermark is covered", ["12:00"], "2026-01-01", []],
  ["recorded after it is news", ["12:01"], "2026-01-01", ["1"]],
  ["recorded at the next watermark is news", ["12:45"], "2026-01-01", ["1"]],
  ["within the margin is none yet", ["12:46"], "2026-01-01", []],
  ["within the margin hides no earlier one", ["12:30", "12:50"], "2026-01-01", ["1"]],
  ["dated ahead is news when its time has come", ["11:00"], at("12:30"), ["1"]],
])("a charge %s", async (_, recorded, charged, expected) => {
  await knex("charges").insert(recorded.map((time) => charge(charged, at(time))));
  expect(await news()).toEqual(expected);
});

it.each([
  ["written and ended before the watermark is covered", at("11:00"), at("11:00"), []],
  ["written since is news", at("12:30"), at("11:00"), ["1"]],
  ["that ended since is news", at("11:00"), at("12:30"), ["1"]],
  ["that is open is none", at("12:30"), null, []],
  ["that ends later is none yet", at("12:30"), at("12:50"), []],
])("a rental %s", async (_, updatedAt, endedAt, expected) => {
  await knex("rentals").insert(rental("2026-01-01", endedAt, updatedAt));
  expect(await news()).toEqual(expected);
});

it("a build in progress, and a watermark in the future, are news", async () => {
  await knex(TABLES.rollups).insert([
    { ...rollup(2), building: 1 },
    { ...rollup(3), watermark: "9000-01-01 00:00:00.000" },
  ]);
  expect(await news()).toEqual(["2", "3"]);
});

it("a watermark that another run has moved past the clock of this one is no news", async () => {
  await knex(TABLES.rollups).insert(rollup(3, "2026-01-20 13:00:00.001"));
  expect(await news()).toEqual([]);
});

it("of thousands of providers, those with news are found", async () => {
  const ids = [...Array.from({ length: 4_500 }, (_, n) => String(n + 1)), ...LARGE];
  await knex("providers").del();
  await knex("providers").insert(ids.map((id) => ({ id, name: "provider" })));
  // More than one query looks at, and of these more than one counts.
  const some = [...ids.filter((_, nth) => nth % 3 === 2), LARGE[1] ?? ""];
  const rows = some.map((id) => ({ ...charge("2020-01-01", "2020-01-01"), provider_id: id }));
  await knex("charges").insert(rows);
  const found = await findNews(knex, ids, CLOCK, { all: false, minRows: 1 });
  expect(found.map(({ provider }) => provider)).toEqual(some);
});

it("costs a few index entries for each provider, however many rows it has", async () => {
  const bulk = { servers: 2, instances: 0, charges: 500, rentals: 50 };
  const providers = Array.from({ length: 8 }, (_, n) => n + 4);
  await addBulk(
    knex,
    providers.map((provider) => ({ provider, ...bulk })),
  );
  const until = toDatetime(Date.now() - 1_000);
  await knex(TABLES.rollups).del();
  await knex(TABLES.rollups).insert(providers.map((id) => rollup(id, until)));
  await knex.raw("ANALYZE TABLE charges, rentals, rollups, providers");
  const read = await knex.transaction(async (session) => {
    const count = async () => {
      const [rows] = await session.raw("SHOW SESSION STATUS LIKE 'Handler_read%'");
      return rows.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
    };
    const before = await count();
    expect(await findNews(session, providers.map(String), { until }, { all: false })).toEqual([]);
    const withRollups = await count();
    // Without any, and nothing new since they were counted.
    await session(TABLES.rollups).del();
    const counted = { upTo: until, all: until, rollups: 0 };
    const options = { all: false, counted };
    expect(await findNews(session, providers.map(String), { until }, options)).toEqual([]);
    return [withRollups - before, (await count()) - withRollups];
  });
  // The counters themselves take some reads.
  for (const some of read) expect(some).toBeLessThan(100 + 10 * providers.length);
});
