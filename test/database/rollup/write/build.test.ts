/** Builds: beside the rollup that is read, in steps, each of which may be the last of its run. */
import { expect, it } from "vitest";
import { LAST_INSTANT, toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { beginBuild, buildStep } from "../../../../src/rollup/write/build.ts";
import { purge } from "../../../../src/rollup/write/purge.ts";
import { watchProcesses } from "../../../support/process-list.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { begin, build, charge, DAY, FIVE_MINUTES, finish, MONTH, rollupOf } from "./built.ts";
import { expectStored } from "./oracle.ts";

const NOW = Date.now();
const [WATERMARK, NEXT] = [toDatetime(NOW - 60_000), toDatetime(NOW - 30_000)];

const database = await databaseOfFile(["providers", "servers", "instances", "wallets", ...LEDGER]);
const { knex } = database;

/** A ledger of some days, spread evenly. */
const fill = (charges: number, days: number) =>
  addBulk(knex, [{ provider: 1, servers: 3, instances: 2, charges, rentals: 20, days }]);
const slots = () => knex(TABLES.sums).distinct("slot").orderBy("slot").pluck("slot");
const building = () => knex(TABLES.rollups).where({ building: 1 }).first();

it("a build that is killed after any of its steps is completed by the next run, from there", async () => {
  // A month has more rows than a step.
  const charges = 600;
  await fill(charges, 75);
  let steps = 0;
  for (let killed = false; !killed; steps++) {
    await begin(knex, "1", WATERMARK, MONTH);
    for (let made = 0; made < steps; made++) {
      killed = (await buildStep(knex, "1", WATERMARK, 100))?.done ?? true;
    }
    const left = await building();
    const seen: unknown[] = [];
    const report = ({ charges }: { readonly charges: number }) => seen.push(charges);
    // Its check would make good what a build has left out.
    expect(await rollUp(knex, { margin: 0, report })).toMatchObject({ repairs: 0 });
    await expectStored(knex);
    if (left?.next_from > "2000") expect(seen.at(-1)).toBeLessThan(charges);
    if (!killed) expect(await building()).toBeUndefined();
    expect(await slots()).toHaveLength(1);
  }
  expect(steps).toBeGreaterThan(3);
});

it("a build is not read if another run has begun it anew before its last step", async () => {
  await fill(100, 50);
  await begin(knex, "1", WATERMARK, MONTH);
  while ((await building()).next_from !== LAST_INSTANT) await buildStep(knex, "1", WATERMARK);
  const processes = await watchProcesses(database.name);
  const other = await knex.transaction();
  try {
    await other(TABLES.rollups).where({ building: 1 }).update({ next_from: null, version: 7 });
    const step = buildStep(knex, "1", WATERMARK);
    await expect.poll(() => processes.running("for update")).toHaveLength(1);
    await other.commit();
    expect(await step).toMatchObject({ done: false });
  } finally {
    await other.commit();
    await processes.close();
  }
  expect(await building()).toMatchObject({ next_from: null });
  await finish(knex, "1", WATERMARK);
  await expectStored(knex);
});

// Regression: it began anew, which could go on for as long as so much was recorded during a build.
it("a complete build is read, also if too much was recorded meanwhile to refresh it", async () => {
  await knex("charges").insert(charge("2025-06-01", "2025-06-01"));
  await begin(knex, "1", WATERMARK, FIVE_MINUTES);
  const at = (n: number) => toDatetime(Date.UTC(2025, 10, 1) + n * 300_000);
  await knex("charges").insert(Array.from({ length: 1_001 }, (_, n) => charge(at(n), NEXT)));
  await finish(knex, "1", NEXT);
  expect(await rollupOf(knex, "1")).toMatchObject({ watermark: WATERMARK, gross: "1.00" });
  await expectStored(knex);
});

it("of first runs at once, each provider is built by one, and of rebuilds none fails", async () => {
  await fill(200, 300);
  const [first, second] = await Promise.all([1, 2].map(() => rollUp(knex, { margin: 0 })));
  expect((first?.charges ?? 0) + (second?.charges ?? 0)).toBe(200);
  await Promise.all([1, 2].map(() => rollUp(knex, { margin: 0, rebuild: true })));
  await expectStored(knex);
});

it.each([
  ["whose watermark lies ahead of the clock", { watermark: "9000-01-01 00:00:00.000" }],
  ["whose leaves have no length", { leaf: "" }],
])("a build %s begins anew", async (_, row) => {
  await knex("charges").insert(charge("2025-06-01", "2025-06-01"));
  await begin(knex, "1", WATERMARK, DAY);
  await buildStep(knex, "1", WATERMARK);
  await knex(TABLES.rollups).update(row);
  await beginBuild(knex, "1", WATERMARK, undefined, false);
  await finish(knex, "1", WATERMARK);
  expect(await rollupOf(knex, "1")).toMatchObject({ watermark: WATERMARK, gross: "1.00" });
});

// Regression: it began in the slot of the rollup that is read, and deleted its rows.
it("a first build that another run completes before it has begun is not begun", async () => {
  await knex("charges").insert(charge("2025-06-01", "2025-06-01"));
  // The statement that begins the slow build waits; no other does.
  await knex.raw(
    `CREATE TRIGGER slow BEFORE INSERT ON rollups FOR EACH ROW
     IF NEW.watermark = '${NEXT}' THEN DO GET_LOCK('${database.name}', 60), RELEASE_LOCK('${database.name}'); END IF`,
  );
  const waiting = await knex.transaction();
  await waiting.raw(`DO GET_LOCK('${database.name}', 60)`);
  const beginning = beginBuild(knex, "1", NEXT, undefined, false);
  const locked = `SELECT id FROM information_schema.processlist
    WHERE db = DATABASE() AND state = 'User lock'`;
  await expect.poll(async () => (await waiting.raw(locked))[0]).toHaveLength(1);
  await beginBuild(knex, "1", WATERMARK, undefined, false);
  await finish(knex, "1", WATERMARK);
  await waiting.raw(`DO RELEASE_LOCK('${database.name}')`);
  const begun = await beginning;
  expect({ begun, building: await building() }).toEqual({ begun: false, building: undefined });
  await expectStored(knex);
  await waiting.rollback();
  await knex.raw("DROP TRIGGER slow");
});

it("what earlier rollups have left in the other slot is purged, and nothing of a build in progress", async () => {
  await knex("charges").insert(charge("2025-06-01", "2025-06-01"));
  await build(knex, "1", WATERMARK);
  await build(knex, "1", WATERMARK);
  expect(await slots()).toHaveLength(2);
  await purge(knex, "1");
  expect(await slots()).toHaveLength(1);
  await expectStored(knex);
  await begin(knex, "1", WATERMARK, DAY);
  await buildStep(knex, "1", WATERMARK);
  await purge(knex, "1");
  expect(await slots()).toHaveLength(2);
});

// A program of the version before deletes of ours what it knows: no increments.
it("rows that are left of a rollup whose row was deleted, or increments alone, are not counted", async () => {
  await knex("providers").insert({ id: 1, name: "provider" });
  await knex("charges").insert(charge("2025-06-01", "2025-06-01"));
  for (const deleted of [[TABLES.rollups], [TABLES.rollups, TABLES.sums]]) {
    for (let nth = 0; nth < 2; nth++) await build(knex, "1", WATERMARK);
    for (const table of deleted) await knex(table).del();
    await rollUp(knex, { margin: 0 });
    await expectStored(knex);
    expect(await slots()).toHaveLength(1);
  }
});
