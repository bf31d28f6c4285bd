/**
 * An upgrade to a version with another format of rollups, in the order of docs/operations.md: what tells that
 * rollups are missing, and what to wait for before services of the new version start. It must never be true
 * while a provider lacks a rollup. Each test goes on where the one before it has stopped.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { FORMAT } from "../../../src/rollup/sums.ts";
import {
  parseLog,
  type RunningCommand,
  runCommand,
  startCommand,
} from "../../support/commands/run-command.ts";
import { poll, until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { withKey } from "../../support/request.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const BEFORE = FORMAT - 1;
const PROVIDERS = [1, 2];

let fixture: Fixture;
let processes: ProcessList;

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
  processes = await watchProcesses(fixture.database.name);
});
afterAll(async () => {
  await processes?.close();
  await fixture?.dispose();
});

const rollups = (format: number) =>
  fixture.database
    .knex(TABLES.rollups)
    .where({ format, building: 0 })
    .orderBy("provider_id")
    .pluck("provider_id")
    .then((ids: unknown[]) => ids.map(Number));

const metricsOf = async (base: string) =>
  parseExposition(await (await fetch(`${base}/metrics`)).text());
const callService = () =>
  fixture.clients.get("REST").call({ method: "GetOverview", headers: withKey(fixture.key) });
const missing = async () =>
  sumOf(await metricsOf(fixture.service.admin), "revenue_rollup_providers_missing");

/**
 * Starts the rollup command, and runs work while its builds wait before their first step: another session
 * has begun them too, and has not committed.
 */
async function whileItBegins(
  flags: readonly string[],
  work: (command: RunningCommand) => Promise<unknown>,
): Promise<RunningCommand> {
  const { knex } = fixture.database;
  const blocker = await knex.transaction();
  try {
    for (const provider of PROVIDERS) {
      await blocker.raw(
        `INSERT INTO ${TABLES.rollups} (provider_id, format, building, version, watermark, leaf, total_leaf, slot, check_at)
         VALUES (?, ?, 1, 1, '2026-01-01', 'P1D', 'P1D', 0, '2026-01-01')`,
        [provider, FORMAT],
      );
    }
    const command = startCommand("rollup", flags, fixture.database.url);
    await until(async () => (await processes.running("for update")).length > 0);
    await work(command);
    return command;
  } finally {
    await blocker.rollback();
  }
}

it("services of the new version tell that rollups are missing, though they have not seen any", async () => {
  await callService();
  await until(async () => (await missing()) === 1);
  const told = () => fixture.service.log().filter(({ msg }) => msg === "provider has no rollup");
  await until(async () => told().length > 0);
  expect(told()).toMatchObject([{ level: "warn", providerId: "1", uncoveredCharges: MIN_ROWS }]);
});

it("a run that is stopped before every rollup is built ends with 1", async () => {
  const command = await whileItBegins([], async (running) => running.signal("SIGINT"));
  const { code, stdout } = await command.ended;
  const behind = PROVIDERS.length - (await rollups(FORMAT)).length;
  expect(behind).toBeGreaterThan(0);
  expect(parseLog(stdout).at(-1)).toMatchObject({ msg: "run ended", behind });
  expect(code).toBe(1);
});

it("with --watch, the gauge of providers behind is absent until every rollup is built", async () => {
  await fixture.database.knex(TABLES.rollups).where({ format: FORMAT }).del();
  let base = "";
  /** Undefined before the first run has ended. */
  const behind = async () => {
    const families = await metricsOf(base);
    const [sample] = families.get("revenue_rollup_run_providers_behind")?.samples ?? [];
    return sample?.value;
  };
  const flags = "--watch 0.2 --admin-port 0".split(" ");
  const command = await whileItBegins(flags, async (running) => {
    const log = () => running.lines().map((line) => JSON.parse(line));
    const { adminHost, adminPort } = await poll(() => log().find(({ msg }) => msg === "listening"));
    base = `http://${adminHost}:${adminPort}`;
    expect(await behind()).toBeUndefined();
    // Which is why this one is not what to wait for.
    expect(sumOf(await metricsOf(base), "revenue_rollup_build_rows_left")).toBe(0);
  });
  await until(async () => (await behind()) === 0);
  expect(await rollups(FORMAT)).toEqual(PROVIDERS);
  command.signal("SIGTERM");
  await command.ended;
});

it("a run without --watch ends with 0 when every rollup is built, beside those of the version before", async () => {
  await fixture.database.knex(TABLES.rollups).where({ format: FORMAT }).del();
  expect(await runCommand("rollup", [], fixture.database.url)).toMatchObject({ code: 0 });
  expect(await rollups(FORMAT)).toEqual(PROVIDERS);
  // The way back.
  expect(await rollups(BEFORE)).toEqual(PROVIDERS);
  await callService();
  await until(async () => (await missing()) === 0);
});
