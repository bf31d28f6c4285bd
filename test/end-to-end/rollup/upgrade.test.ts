/**
 * An upgrade to a version with another format of rollups, in the order of docs/operations.md: what tells that
 * rollups are missing, and what to wait for before services of the new version start. It must never be true
 * while a provider lacks a rollup. Each test goes on where the one before it has stopped.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { FORMAT } from "../../../src/rollup/sums.ts";
import { parseLog, runCommand, startCommand } from "../../support/commands/run-command.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { withKey } from "../../support/request.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const BEFORE = FORMAT - 1;
const PROVIDERS = [1, 2];

let fixture: Fixture;

/** Two providers, with rollups of the format of the version before. */
beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    await addBulk(
      knex,
      PROVIDERS.map((provider) => ({ provider, servers: 2, instances: 2, charges: MIN_ROWS })),
    );
    await rollUp(knex, { margin: 900_000 });
    for (const table of Object.values(TABLES)) await knex(table).update({ format: BEFORE });
  });
});
afterAll(() => fixture?.dispose());

const rollups = (format: number): Promise<string[]> =>
  fixture.database
    .knex(TABLES.rollups)
    .where({ format, building: 0 })
    .orderBy("provider_id")
    .pluck("provider_id");

const callService = () =>
  fixture.clients.get("REST").call({ method: "GetOverview", headers: withKey(fixture.key) });
async function missing(): Promise<number> {
  const response = await fetch(`${fixture.service.admin}/metrics`);
  return sumOf(parseExposition(await response.text()), "revenue_rollup_providers_missing");
}

it("services of the new version tell that rollups are missing, though they have not seen any", async () => {
  await callService();
  await until(async () => (await missing()) === 1);
  const told = () => fixture.service.log().filter(({ msg }) => msg === "provider has no rollup");
  await until(() => told().length > 0);
  expect(told()).toMatchObject([{ level: "warn", providerId: "1", uncoveredCharges: MIN_ROWS }]);
});

it("a run that is stopped before every rollup is built ends with 1", async () => {
  const { knex, name, url } = fixture.database;
  const processes = await watchProcesses(name);
  // The first steps of its builds wait: another session has begun them too, and has not committed.
  const blocker = await knex.transaction();
  for (const provider of PROVIDERS) {
    await blocker.raw(
      `INSERT INTO ${TABLES.rollups} (provider_id, format, building, version, watermark, leaf, total_leaf, slot, check_at)
       VALUES (?, ?, 1, 1, '2026-01-01', 'P1D', 'P1D', 0, '2026-01-01')`,
      [provider, FORMAT],
    );
  }
  const command = startCommand("rollup", [], url);
  await until(async () => (await processes.running("for update")).length > 0);
  command.signal("SIGINT");
  await blocker.rollback();
  await processes.close();
  const { code, stdout } = await command.ended;
  const behind = PROVIDERS.length - (await rollups(FORMAT)).length;
  expect(behind).toBeGreaterThan(0);
  expect(parseLog(stdout).at(-1)).toMatchObject({ msg: "run ended", behind });
  expect(code).toBe(1);
});

it("one that ends with 0 has built every rollup, beside those of the version before", async () => {
  expect(await runCommand("rollup", [], fixture.database.url)).toMatchObject({ code: 0 });
  expect((await rollups(FORMAT)).map(Number)).toEqual(PROVIDERS);
  // The way back.
  expect((await rollups(BEFORE)).map(Number)).toEqual(PROVIDERS);
  await callService();
  await until(async () => (await missing()) === 0);
});
