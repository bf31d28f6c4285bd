/**
 * `npm run rollup -- --watch`: what it prints, its heartbeat, its admin port, and what it does while runs fail, for one
 * provider or because the server is another one. Each test goes on where the one before it has stopped. How long it
 * waits for a silent database at its stop: test/unit/cli/rollup-stop.test.ts.
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
import { addBulk } from "../../support/rollup/bulk.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const CHARGES = MIN_ROWS;
/** The account of the command, and its password. */
const ACCOUNT = `rollup_${randomBytes(6).toString("hex")}`;

let database: TestDatabase;
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

/** The lines of its log so far. */
const log = () => command.lines().map((line) => JSON.parse(line));
const linesWith = (message: string) => log().filter(({ msg }) => msg === message);

const versionOf = async (provider: number) =>
  `${await database.knex(TABLES.rollups).where({ provider_id: provider, building: 0 }).pluck("version")}`;
/** The version of the first provider's rollup before the command is started. */
let replaced: string;

/** Two providers, of which the first has a rollup. */
beforeAll(async () => {
  database = await createDatabase();
  await database.knex.raw(`CREATE USER ${ACCOUNT} IDENTIFIED BY '${ACCOUNT}'`);
  await database.knex.raw(`GRANT ALL ON ${database.name}.* TO ${ACCOUNT}`);
  await privilege("GRANT PROCESS ON *.* TO");
  const url = Object.assign(new URL(database.url), { username: ACCOUNT, password: ACCOUNT });
  proxy = await startDatabaseProxy(url.href);
  await fill(1);
  await rollUp(database.knex, { margin: 0 });
  await fill(2);
  replaced = await versionOf(1);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  command?.signal("SIGKILL");
  await command?.ended;
  await proxy?.close();
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

/** Resolves when the heartbeat has been written some more times. It is, once a second. */
function untilBeating(times: number): Promise<void> {
  const seen = new Set<string>();
  return until(async () => {
    for (const { written_at } of await database.knex("heartbeat")) seen.add(`${written_at}`);
    return seen.size > times;
  });
}

/** Undefined before the first run has ended. */
async function behind(): Promise<number | undefined> {
  const [sample] = (await metrics()).get("revenue_rollup_run_providers_behind")?.samples ?? [];
  return sample?.value;
}

it("while its first run waits for a lock it writes the heartbeat, and tells of no provider that it is not behind", async () => {
  vi.stubEnv("ADMIN_HOST", "127.0.0.2");
  await database.knex.transaction(async (blocker) => {
    await blocker(TABLES.rollups).where({ provider_id: 1 }).forUpdate();
    await startWatch("0.2", "--rebuild");
    await untilBeating(1);
    expect(await behind()).toBeUndefined();
  });
  await until(async () => (await behind()) === 0);
});

it("adds charges, says how many, and is silent if there are none; --rebuild builds every rollup again once", async () => {
  const built = await versionOf(1);
  expect(built).not.toBe(replaced);
  await untilRuns(2);
  // The margin is a second: a statement of another test on the server may hold the watermark for a run.
  const others = () => log().filter(({ msg }) => msg !== "the watermark waits");
  const lines = others();
  const added = linesWith("run ended").map(({ charges }) => charges);
  expect(added.reduce((sum, count) => sum + count)).toBe(2 * CHARGES);
  await untilRuns(2);
  expect(others()).toEqual(lines);
  expect(await versionOf(1)).toBe(built);
});

it("its metrics are those of its runs, on ADMIN_HOST, and count the differences that it removes", async () => {
  expect(new URL(base).hostname).toBe("127.0.0.2");
  const families = await metrics();
  expect(sumOf(families, "revenue_rollup_charges_total")).toBe(2 * CHARGES);
  expect(sumOf(families, "revenue_rollup_providers")).toBe(2);
  expect(sumOf(families, "revenue_rollup_repairs_total")).toBe(0);
  expect(families.get("revenue_rollup_run_lag_seconds")?.samples).toHaveLength(1);
  expect(families.get("revenue_rollup_check_age_seconds")?.samples).toHaveLength(1);
  expect(sumOf(families, "revenue_rollup_run_duration_seconds_count")).toBeGreaterThan(1);
  const succeeded = sumOf(families, "revenue_rollup_last_success_timestamp_seconds");
  expect(Math.abs(Date.now() - 1_000 * succeeded)).toBeLessThan(TIME_LIMIT);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
  // One that is covered already.
  await database.knex("charges").where({ provider_id: 2 }).limit(1).update({ gross: "77.77" });
  await until(async () => sumOf(await metrics(), "revenue_rollup_repairs_total") > 0);
});

/** The sessions of the command. */
const sessions = (): Promise<number[]> =>
  database.knex("information_schema.PROCESSLIST").where({ USER: ACCOUNT }).pluck("ID");

it("counts failures of its database, connects again, and looks at the session again; logs once why runs fail, and that they succeed; stops with 0", async () => {
  /** The levels of the lines that tell whether it sees open transactions. */
  const sights = () =>
    log().flatMap(({ msg, level }) =>
      msg.startsWith("open transactions are")
        ? `${level} ${msg.includes("not") ? "hidden" : "visible"}`
        : [],
    );
  expect(sights()).toEqual(["info visible"]);
  await privilege("REVOKE PROCESS ON *.* FROM");
  // The pool replaces connections that have ended, and the run is the first to notice.
  for (const id of await sessions()) await database.knex.raw(`KILL ${id}`).catch(() => {});
  await until(() => linesWith("runs succeed again").length > 0);
  expect(sights()).toEqual(["info visible", "warn hidden"]);

  const made = proxy.made();
  // What a primary answers that has become read-only. Further connections have the account's new privileges.
  await privilege("GRANT PROCESS ON *.* TO");
  // The heartbeat may get some of them, and passes over it.
  proxy.inject({ errno: 1290, command: "query", times: 100 });
  await untilRuns(3, "failed");
  proxy.inject({ errno: 1290, command: "query" });
  await until(() => sights().at(-1) === "info visible");
  expect(proxy.made()).toBeGreaterThan(made);
  const readOnly = linesWith("run failed, will retry").filter(({ cause }) => cause.errno === 1290);
  expect(readOnly).toMatchObject([
    { level: "warn", reason: expect.stringMatching(/^database error: /) },
  ]);
  command.signal("SIGTERM");
  expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
});

it("the next run comes within a second if connections were lost; one provider that fails brings neither it forward nor new connections", async () => {
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON ${TABLES.rollups} FOR EACH ROW
     IF NEW.provider_id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it fails'; END IF`,
  );
  // The probe of its admin port may get one of them.
  proxy.inject({ errno: 1290, command: "query", times: 3 });
  await startWatch("600");
  await until(() => linesWith("run failed, will retry").length === 2);
  expect(linesWith("run failed, will retry")).toMatchObject([
    { cause: { errno: 1290 } },
    { reason: expect.stringMatching(/^provider 2: it fails/) },
  ]);
  const [before, failed] = [await sessions(), await runs("failed")];
  await untilBeating(2);
  expect(await runs("failed")).toBe(failed);
  // A pool closes those that are idle for long.
  expect((await sessions()).filter((id) => before.includes(id))).not.toEqual([]);
});
