/** The probe behind /readyz, on a real database. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { startDatabaseProbe } from "../../../src/admin/database-probe.ts";
import { createReadiness, type Readiness } from "../../../src/admin/readiness.ts";
import { serviceStatements } from "../../../src/cli/statements.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { databaseOfFile } from "../file-database.ts";

const TIMES = {
  period: 50,
  retry: 20,
  schemaPeriod: 50,
  connectTimeout: TIME_LIMIT,
  schemaTimeout: 5_000,
};

const STATEMENTS = serviceStatements(true);

const database = await databaseOfFile();
let proxy: DatabaseProxy;
let readiness: Readiness;
let stop: () => Promise<void>;

const start = (times = TIMES) =>
  startDatabaseProbe({
    url: parseDatabaseUrl(proxy.url),
    readiness,
    times,
    statements: STATEMENTS,
  });

beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  readiness = createReadiness();
  stop = start();
});
afterEach(async () => {
  const stopped = stop?.();
  // Ends a look at the schema that gets no answer; the pool waits for it.
  await proxy?.close();
  await stopped;
});

const becomes = (ready: boolean) => until(() => readiness.isReady() === ready);
const attempts = (more: number) => {
  const before = proxy.made();
  return until(() => proxy.made() >= before + more);
};

it("a database that cannot be reached, or never answers, makes the process unready, until it can be again", async () => {
  await stop();
  stop = start({ ...TIMES, connectTimeout: 500 });
  await attempts(3);
  expect(readiness.isReady()).toBe(true);
  const port = "1"; // nothing listens there
  proxy.route(database.url.replace(/:\d+\//, `:${port}/`));
  await becomes(false);
  expect(readiness.report()).toContain("[-]database failed: several connection attempts");
  proxy.route(database.url);
  await becomes(true);
  proxy.silence();
  proxy.silenceNew(true);
  await becomes(false);
  proxy.silenceNew(false);
  await becomes(true);
});

it("a database that is slow, or answers statements with errors, leaves the process ready", async () => {
  await attempts(2);
  proxy.inject({ errno: 1205, command: "query", times: 1_000 });
  await attempts(10);
  expect(readiness.isReady()).toBe(true);
});

it("a right that the account lacks makes the process unready, until it has it", async () => {
  await stop();
  const user = `probe_${randomBytes(6).toString("hex")}`;
  const run = (sql: string) => database.knex.raw(sql.replace("$", `${database.name}.`));
  await run(`CREATE USER ${user} IDENTIFIED BY '${user}'`);
  onTestFinished(() => run(`DROP USER ${user}`));
  // A right on a table ends at once, also in sessions that are open; one on a database only in new ones.
  const [tables] = await database.knex.raw("SHOW TABLES");
  for (const table of tables.flatMap((row: object) => Object.values(row))) {
    await run(`GRANT SELECT ON $${table} TO ${user}`);
  }
  const url = Object.assign(new URL(proxy.url), { username: user, password: user });
  const parts = { url: parseDatabaseUrl(url.href), readiness, times: TIMES };
  stop = startDatabaseProbe({ ...parts, statements: STATEMENTS });
  await attempts(3);
  expect(readiness.isReady()).toBe(true);
  await run(`REVOKE SELECT ON $wallets FROM ${user}`);
  await becomes(false);
  // Any that reads wallets: the right may have ended while the probe was half through the statements.
  expect(readiness.report()).toMatch(/\[-\]schema failed: the statement \w+ is refused: .*wallets/);
  await run(`GRANT SELECT ON $wallets TO ${user}`);
  await becomes(true);
});

it("a migration that is missing makes the process unready, until it is there", async () => {
  const row = await database.knex("knex_migrations").orderBy("id", "desc").first();
  await database.knex("knex_migrations").where("id", row.id).delete();
  await becomes(false);
  expect(readiness.report()).toContain(`[-]schema failed: migrations are pending: ${row.name}`);
  await database.knex("knex_migrations").insert(row);
  await becomes(true);
});
