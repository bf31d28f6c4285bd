/**
 * `npm run rollup -- --watch`: what it prints, its heartbeat, its admin port, and what it does while runs fail, for one
 * provider or because the server is another one. Each test goes on where the one before it has stopped.
 */
import { randomBytes } from "node:crypto";
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
/** The account of the command, and its password. */
const ACCOUNT = `rollup_${randomBytes(6).toString("hex")}`;

let database: TestDatabase;
let processes: ProcessList;
let proxy: DatabaseProxy;
let command: RunningCommand;
/** The base URL of its admin port. */
let base: string;

const fill = (provider: number) =>
  addBulk(database.knex, [{ provider, servers: 2, instances: 2, charges: CHARGES }]);
const privilege = (sql: "GRANT PROCESS ON *.* TO" | "REVOKE PROCESS ON *.* FROM") =>
  database.knex.raw(`${sql} ${ACCOUNT}`);

/** Every rollup is checked in every run: its next check is always due. */
async function startWatch(seconds: string, ...more: string[]): Promise<void> {
  const flags = ["--margin", "0", "--check-period", "1", "--admin-port", "0"];
  command = startCommand("rollup", [...flags, "--watch", seconds, ...more], proxy.url);
  const { adminHost, adminPort } = await poll(() => linesWith("listening")[0]);
  base = `http://${adminHost}:${adminPort}`;
}
async function stop(): Promise<void> {
  command.signal("SIGTERM");
  expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
}

/** The lines of its log so far. */
const log = () => command.lines().map((line) => JSON.parse(line));
const linesWith = (message: string) => log().filter(({ msg }) => msg === message);

beforeAll(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
  await database.knex.raw(`CREATE USER ${ACCOUNT} IDENTIFIED BY '${ACCOUNT}'`);
  await database.knex.raw(`GRANT ALL ON ${database.name}.* TO ${ACCOUNT}`);
  await privilege("GRANT PROCESS ON *.* TO");
  const url = Object.assign(new URL(database.url), { username: ACCOUNT, password: ACCOUNT });
  proxy = await startDatabaseProxy(url.href);
  await fill(1);
  vi.stubEnv("ADMIN_HOST", "127.0.0.2");
  await startWatch("0.2");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  command?.signal("SIGKILL");
  await command?.ended;
  await proxy?.close();
  await processes?.close();
  await database?.knex.raw(`DROP USER IF EXISTS ${ACCOUNT}`);
  await database?.drop();
});

const metrics = async () => parseExposition(await (await fetch(`${base}/metrics`)).text());
const runs = async (result: "ok" | "failed") =>
  sumOf(await metrics(), "revenue_rollup_runs_total", { result });

async function untilRuns(more: number, result: "ok" | "failed" = "ok"): Promise<void> {
  const before = await runs(result);
  await until(async () => (await runs(result)) >= before + more);
}

const isBuilt = (provider: number) => async () =>
  (await database.knex(TABLES.rollups).where({ provider_id: provider, building: 0 })).length > 0;

/** Resolves when the heartbeat has been written some more times. It is, once a second. */
function untilBeating(times = 1): Promise<void> {
  const seen = new Set<string>();
  return until(async () => {
    for (const { written_at } of await database.knex("heartbeat")) seen.add(`${written_at}`);
    return seen.size > times;
  });
}

it("adds charges, says how many, and is silent if there are none", async () => {
  await until(isBuilt(1));
  // A build may take several runs, and the last may add no charge.
  await untilRuns(2);
  // The margin is a second: a statement of another test on the server may hold the watermark for a run.
  const others = () => log().filter(({ msg }) => msg !== "the watermark waits");
  const lines = others();
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

it("counts the differences that it removes", async () => {
  // One that is covered already, by the rollup of the provider to which nothing else happens.
  await database.knex("charges").where({ provider_id: 2 }).limit(1).update({ gross: "77.77" });
  await until(async () => sumOf(await metrics(), "revenue_rollup_repairs_total") > 0);
});

/** The sessions of the command. */
const sessions = (): Promise<number[]> =>
  database.knex("information_schema.PROCESSLIST").where({ USER: ACCOUNT }).pluck("ID");

it("counts failures of its database, connects again, and looks at the session again; logs once why runs fail, and that they succeed", async () => {
  /** The levels of the lines that tell whether it sees open transactions. */
  const sights = () =>
    log().flatMap(({ msg, level }) =>
      msg.startsWith("open transactions are")
        ? `${level} ${msg.includes("not") ? "hidden" : "visible"}`
        : [],
    );
  /** What a primary answers that has become read-only. Further connections have the account's new privileges. */
  const failOver = async (failures: number) => {
    // The heartbeat may get some of them, and passes over it.
    proxy.inject({ errno: 1290, command: "query", times: 100 });
    await untilRuns(failures, "failed");
    proxy.inject({ errno: 1290, command: "query" });
    await untilRuns(2);
  };
  const made = proxy.made();
  expect(sights()).toEqual(["info visible"]);
  await privilege("REVOKE PROCESS ON *.* FROM");
  await failOver(3);
  expect(proxy.made()).toBeGreaterThan(made);
  expect(sights()).toEqual(["info visible", "warn hidden"]);
  expect(linesWith("run failed, will retry")).toMatchObject([
    { level: "warn", reason: expect.stringMatching(/^database error: /), cause: { errno: 1290 } },
  ]);
  const failures = expect.any(Number);
  expect(linesWith("runs succeed again")).toMatchObject([{ level: "info", failures }]);
  await privilege("GRANT PROCESS ON *.* TO");
  await failOver(1);
  expect(sights().at(-1)).toBe("info visible");
  await privilege("REVOKE PROCESS ON *.* FROM");
  // The pool replaces connections that have ended, and the run is the first to notice.
  for (const id of await sessions()) await database.knex.raw(`KILL ${id}`).catch(() => {});
  await until(() => sights().length === 4);
  await untilRuns(2);
  expect(sights().at(-1)).toBe("warn hidden");
  await privilege("GRANT PROCESS ON *.* TO");
});

it("stops at SIGTERM with 0, and tells how many failures had no line", async () => {
  await stop();
  const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
  const more = linesWith("more: run failed, will retry").map(({ count }) => count);
  const all = linesWith("runs succeed again").map(({ failures }) => failures);
  expect(linesWith("run failed, will retry").length + sum(more)).toBe(sum(all));
});

const failFor = (provider: number) =>
  database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON ${TABLES.rollups} FOR EACH ROW
     IF NEW.provider_id = ${provider} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it fails'; END IF`,
  );

it("--rebuild builds every rollup again once, also if that of one provider fails in every run", async () => {
  await failFor(2);
  const version = async () =>
    `${await database.knex(TABLES.rollups).where({ provider_id: 1, building: 0 }).pluck("version")}`;
  const before = await version();
  await startWatch("0.2", "--rebuild");
  await until(async () => (await version()) !== before);
  const built = await version();
  await untilRuns(3, "failed");
  expect(await version()).toEqual(built);
  await stop();
});

it("one provider that fails in every run brings neither the next run forward nor new connections", async () => {
  await startWatch("600");
  expect(await poll(() => linesWith("run failed, will retry")[0])).toMatchObject({
    reason: expect.stringMatching(/^provider 2: it fails/),
  });
  const before = await sessions();
  await untilBeating(4);
  expect(await runs("failed")).toBe(1);
  // A pool closes those that are idle for long.
  expect((await sessions()).filter((id) => before.includes(id))).not.toEqual([]);
  await stop();
  await database.knex.raw("DROP TRIGGER failing");
});

it("stops at SIGTERM also while its database is silent, and tells that it did not answer", async () => {
  await startWatch("0.2");
  await whileARunWaits(async () => {
    proxy.silence();
    command.signal("SIGTERM");
    expect(await command.ended).toMatchObject({ code: 1, stderr: "" });
    expect(log().at(-1)).toMatchObject({
      msg: "the database did not answer within 10 s of the signal",
    });
  });
});
