/** `npm run rollup -- --watch` while runs fail: for one provider, or because the server is another one. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { type RunningCommand, startCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { poll, until } from "../../support/poll.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

/** The account of the command, and its password. */
const ACCOUNT = `rollup_${randomBytes(6).toString("hex")}`;

let database: TestDatabase;
let proxy: DatabaseProxy;
let command: RunningCommand;
/** The base URL of its admin port. */
let base: string;

const privilege = (sql: "GRANT PROCESS ON *.* TO" | "REVOKE PROCESS ON *.* FROM") =>
  database.knex.raw(`${sql} ${ACCOUNT}`);

beforeAll(async () => {
  database = await createDatabase();
  await database.knex.raw(`CREATE USER ${ACCOUNT} IDENTIFIED BY '${ACCOUNT}'`);
  await database.knex.raw(`GRANT ALL ON ${database.name}.* TO ${ACCOUNT}`);
  await privilege("GRANT PROCESS ON *.* TO");
  const url = Object.assign(new URL(database.url), { username: ACCOUNT, password: ACCOUNT });
  proxy = await startDatabaseProxy(url.href);
  for (const provider of [1, 2]) {
    await addBulk(database.knex, [{ provider, servers: 1, instances: 1, charges: MIN_ROWS }]);
  }
});
afterEach(async () => {
  command.signal("SIGKILL");
  await command.ended;
  await database.knex.raw("DROP TRIGGER IF EXISTS one_fails");
  await database.knex(TABLES.rollups).del();
});
afterAll(async () => {
  await proxy?.close();
  await database?.knex.raw(`DROP USER IF EXISTS ${ACCOUNT}`);
  await database?.drop();
});

async function startWatch(seconds: string): Promise<void> {
  command = startCommand("rollup", ["--watch", seconds, "--admin-port", "0"], proxy.url);
  const [{ adminHost, adminPort }] = await poll(() => some(linesWith("listening")));
  base = `http://${adminHost}:${adminPort}`;
}

const some = <Item>(items: Item[]) => (items.length > 0 ? items : undefined);
const linesWith = (message: string) =>
  command
    .lines()
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === message);

const runs = async (result: "ok" | "failed") =>
  sumOf(
    parseExposition(await (await fetch(`${base}/metrics`)).text()),
    "revenue_rollup_runs_total",
    { result },
  );

/** The sessions of the command, in the order in which they were made. */
const sessions = (): Promise<number[]> =>
  database
    .knex("information_schema.PROCESSLIST")
    .where({ USER: ACCOUNT })
    .orderBy("ID")
    .pluck("ID");

it("one provider that fails in every run brings neither the next run forward nor new connections", async () => {
  await startWatch("0.2");
  await until(async () => (await runs("ok")) > 0);
  command.signal("SIGTERM");
  await command.ended;
  // Its check is due, so the next run writes its row.
  await database.knex(TABLES.rollups).where({ provider_id: 1 }).update({ check_at: "2026-01-01" });
  await database.knex.raw(
    `CREATE TRIGGER one_fails BEFORE UPDATE ON ${TABLES.rollups} FOR EACH ROW
     IF OLD.provider_id = 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it fails'; END IF`,
  );
  await startWatch("600");
  expect(await poll(() => some(linesWith("run failed, will retry")))).toMatchObject([
    { reason: "provider 1: it fails" },
  ]);
  const [first] = await sessions();
  const beats = new Set<string>();
  await until(async () => {
    for (const { written_at } of await database.knex("heartbeat")) beats.add(`${written_at}`);
    return beats.size > 4; // a second for each
  });
  expect(await runs("failed")).toBe(1);
  expect((await sessions())[0]).toBe(first);
});

it("whether open transactions are visible is looked at again with new connections, and after a run that they fail", async () => {
  await startWatch("0.2");
  const visible = () => linesWith("open transactions are visible").map(({ level }) => level);
  const hidden = () => linesWith("open transactions are not visible").map(({ level }) => level);
  /** Runs succeed, and say what is true now. */
  const untilRuns = async (...[inSight, outOfSight]: [inSight: number, outOfSight: number]) => {
    await until(() => visible().length === inSight && hidden().length === outOfSight);
    const before = await runs("ok");
    await until(async () => (await runs("ok")) > before + 1);
  };
  /** What a primary answers that has become read-only. Further connections have the account's new privileges. */
  const failOver = async () => {
    const before = await runs("failed");
    // The heartbeat may get some of them, and passes over it.
    proxy.inject({ errno: 1290, command: "query", times: 100 });
    await until(async () => (await runs("failed")) > before);
    proxy.inject({ errno: 1290, command: "query" });
  };

  await untilRuns(1, 0);
  await privilege("REVOKE PROCESS ON *.* FROM");
  await failOver();
  await untilRuns(1, 1);
  await privilege("GRANT PROCESS ON *.* TO");
  await failOver();
  await untilRuns(2, 1);
  await privilege("REVOKE PROCESS ON *.* FROM");
  // The pool replaces connections that have ended, and the run is the first to notice.
  for (const id of await sessions()) await database.knex.raw(`KILL ${id}`).catch(() => {});
  await untilRuns(2, 2);
  expect([...visible(), ...hidden()]).toEqual(["info", "info", "warn", "warn"]);
});
