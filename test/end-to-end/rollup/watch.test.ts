/** `npm run rollup -- --watch`: what it prints, its heartbeat, and its admin port. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { type RunningCommand, startCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { poll, until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const CHARGES = MIN_ROWS;

let database: TestDatabase;
let processes: ProcessList;
let proxy: DatabaseProxy;
let command: RunningCommand;
/** The base URL of its admin port. */
let base: string;

const fill = (provider: number) =>
  addBulk(database.knex, [{ provider, servers: 2, instances: 2, charges: CHARGES }]);

/** Every rollup is checked in every run: its next check is always due. */
const FLAGS = "--margin 0 --watch 0.2 --check-period 1 --admin-port 0";
async function startWatch(...more: string[]): Promise<void> {
  command = startCommand("rollup", [...FLAGS.split(" "), ...more], proxy.url);
  const { adminHost, adminPort } = await poll(() => log().find(({ msg }) => msg === "listening"));
  base = `http://${adminHost}:${adminPort}`;
}

/** The lines of its log so far. */
const log = () => command.lines().map((line) => JSON.parse(line));
const linesWith = (message: string) => log().filter(({ msg }) => msg === message);

beforeAll(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
  proxy = await startDatabaseProxy(database.url);
  await fill(1);
  vi.stubEnv("ADMIN_HOST", "127.0.0.2");
  await startWatch();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  command?.signal("SIGKILL");
  await command?.ended;
  await proxy?.close();
  await processes?.close();
  await database?.drop();
});

const metrics = async () => parseExposition(await (await fetch(`${base}/metrics`)).text());
const runs = async (result: string) =>
  sumOf(await metrics(), "revenue_rollup_runs_total", { result });

async function untilRuns(more: number): Promise<void> {
  const before = await runs("ok");
  await until(async () => (await runs("ok")) >= before + more);
}

const isBuilt = (provider: number) => async () =>
  (await database.knex(TABLES.rollups).where({ provider_id: provider, building: 0 })).length > 0;

/** Resolves when the heartbeat has been written once more. */
function untilBeating(): Promise<void> {
  const seen = new Set<string>();
  return until(async () => {
    for (const { written_at } of await database.knex("heartbeat")) seen.add(`${written_at}`);
    return seen.size > 1;
  });
}

it("adds charges, says how many, and is silent if there are none", async () => {
  await until(isBuilt(1));
  // A build may take several runs, and the last may add no charge.
  await untilRuns(2);
  // The margin is a second: a statement of another test on the server may hold the watermark for a run.
  const others = () => log().filter(({ msg }) => msg !== "the watermark waits");
  const lines = others();
  expect(linesWith("open transactions are visible")).toMatchObject([{ level: "info" }]);
  const added = linesWith("run ended").map(({ charges }) => charges);
  expect(added.reduce((sum, count) => sum + count)).toBe(CHARGES);
  await untilRuns(2);
  expect(others()).toEqual(lines);
  await fill(2);
  await until(isBuilt(2));
});

it("its metrics are those of its runs, on ADMIN_HOST", async () => {
  await untilRuns(1);
  expect(new URL(base).hostname).toBe("127.0.0.2");
  const families = await metrics();
  expect(sumOf(families, "revenue_rollup_charges_total")).toBe(2 * CHARGES);
  expect(sumOf(families, "revenue_rollup_providers")).toBe(2);
  expect(sumOf(families, "revenue_rollup_run_providers_behind")).toBe(0);
  expect(sumOf(families, "revenue_rollup_repairs_total")).toBe(0);
  expect(families.get("revenue_rollup_run_lag_seconds")?.samples).toHaveLength(1);
  expect(families.get("revenue_rollup_check_age_seconds")?.samples).toHaveLength(1);
  expect(sumOf(families, "revenue_rollup_run_duration_seconds_count")).toBeGreaterThan(1);
  const succeeded = sumOf(families, "revenue_rollup_last_success_timestamp_seconds");
  expect(Math.abs(Date.now() - 1_000 * succeeded)).toBeLessThan(TIME_LIMIT);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
});

/** Runs work while a statement of the command waits for a lock. */
async function whileARunWaits(work: () => Promise<unknown>): Promise<void> {
  await database.knex.transaction(async (blocker) => {
    await blocker("rollups").where({ provider_id: 1 }).forUpdate();
    const charge = { provider_id: 1, server_id: 1, charged_at: "2024-01-01", gross: "1.00" };
    await database.knex("charges").insert(charge);
    await until(async () => (await processes.running("rollups")).length > 0);
    await work();
  });
}

it("writes the heartbeat while a run waits for a lock", () => whileARunWaits(untilBeating));

it("counts failures of its database, connects again, and logs once why runs fail, and that they succeed", async () => {
  const [before, failed] = [proxy.made(), await runs("failed")];
  // What a primary answers that has become read-only.
  proxy.inject({ errno: 1290, command: "query", times: 100 });
  await until(async () => (await runs("failed")) > failed + 2);
  proxy.inject({ errno: 1290, command: "query" });
  await untilRuns(1);
  expect(proxy.made()).toBeGreaterThan(before);
  await until(() => linesWith("runs succeed again").length > 0);
  const more = (await runs("failed")) - failed;
  expect(linesWith("run failed, will retry")).toMatchObject([
    { level: "warn", reason: expect.stringMatching(/^database error: /), cause: { errno: 1290 } },
  ]);
  expect(linesWith("runs succeed again")).toMatchObject([{ level: "info", failures: more }]);
});

it("counts the differences that it removes", async () => {
  // One that is covered already, by the rollup of the provider to which nothing else happens.
  await database.knex("charges").where({ provider_id: 2 }).limit(1).update({ gross: "77.77" });
  await until(async () => sumOf(await metrics(), "revenue_rollup_repairs_total") > 0);
});

it("stops at SIGTERM with 0, and tells how many failures had no line", async () => {
  command.signal("SIGTERM");
  expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
  const [{ failures }] = linesWith("runs succeed again");
  expect(linesWith("more: run failed, will retry")).toMatchObject([{ count: failures - 1 }]);
});

it("--rebuild builds every rollup again once, also if that of one provider fails in every run", async () => {
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON rollups FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN SIGNAL SQLSTATE '45000'; END IF;
     END`,
  );
  const version = async () =>
    `${await database.knex(TABLES.rollups).where({ provider_id: 1, building: 0 }).pluck("version")}`;
  const before = await version();
  await startWatch("--rebuild");
  await until(async () => (await version()) !== before);
  const built = await version();
  const failed = await runs("failed");
  await until(async () => (await runs("failed")) > failed + 2);
  expect(await version()).toEqual(built);
  command.signal("SIGTERM");
  await command.ended;
  await database.knex.raw("DROP TRIGGER failing");
});

it("stops at SIGTERM also while its database is silent, and tells that it did not answer", async () => {
  await startWatch();
  await whileARunWaits(async () => {
    proxy.silence();
    command.signal("SIGTERM");
    expect(await command.ended).toMatchObject({ code: 1, stderr: "" });
    expect(log().at(-1)).toMatchObject({
      msg: "the database did not answer within 10 s of the signal",
    });
  });
});
