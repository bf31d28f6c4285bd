/**
 * Who holds the watermark back: whoever writes the ledger, whatever the schema of the session. On a server
 * of its own that lists metadata locks, as MySQL does by default, and MariaDB if it is told to.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Knex } from "knex";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { startPrivateDatabase } from "../../../../dev/private-database/private-database.ts";
import { migrateToLatest } from "../../../../src/db/migrate.ts";
import { readClock } from "../../../../src/rollup/write/run/clock.ts";
import { whyLocksAreHidden } from "../../../../src/rollup/write/run/writers.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { parseLog, runCommand } from "../../../support/commands/run-command.ts";
import { connectTo, testPool } from "../../../support/database.ts";
import { LISTS_LOCKS } from "../../../support/database-server.ts";
import { until } from "../../../support/poll.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";

const MDL = "wait/lock/metadata/sql/mdl";
/** How many locks the server can list. */
const LOCKS = 1_000;
const server = await startPrivateDatabase({
  bufferPool: "64M",
  serverOptions: [
    ...LISTS_LOCKS,
    `--performance-schema-max-metadata-locks=${LOCKS}`,
    "--secure-file-priv=",
    "--innodb-lock-wait-timeout=10",
  ],
});
const urlOf = (schema: string) =>
  Object.assign(new URL(server.url), { pathname: `/${schema}` }).href;
const session = (schema: string) => testPool(urlOf(schema), { maxConnections: 1 });
const database = testPool(server.url, { maxConnections: 10 });
await migrateToLatest(database);
await database("providers").insert({ id: 1, name: "provider" });
await database("rentals").insert({ provider_id: 1, server_id: 1, started_at: "2026-01-10" });

const COLUMNS = "(provider_id, server_id, charged_at, gross)";
const CHARGE = `INSERT INTO revenue.charges ${COLUMNS} VALUES (1, 1, '2026-01-10', 1)`;
const READ = "SELECT 1, 1, '2026-01-10', COUNT(*) FROM revenue.charges";
for (const statement of [
  "CREATE DATABASE billing",
  "CREATE TABLE billing.invoices (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT)",
  "CREATE TABLE billing.facts (id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT)",
  `CREATE TRIGGER billing.bill AFTER INSERT ON billing.invoices FOR EACH ROW ${CHARGE}`,
  "CREATE VIEW billing.view AS SELECT * FROM revenue.charges",
  `CREATE FUNCTION billing.charged() RETURNS INT MODIFIES SQL DATA BEGIN ${CHARGE}; RETURN 1; END`,
  `CREATE PROCEDURE billing.charge() ${CHARGE}`,
]) {
  await database.raw(statement);
}
const file = join(server.folder, "tmp", "charges");
writeFileSync(file, "1\t1\t2026-01-10\t1\n", { mode: 0o644 });

const [billing, other, ledger] = [session("billing"), session("billing"), session("revenue")];
const sessions = [ledger, other, billing];
afterEach(async () => {
  for (const pool of sessions) await pool.raw("ROLLBACK");
  await database("charges").delete();
});
afterAll(async () => {
  for (const pool of [...sessions, database]) await pool.destroy();
  await server.stop();
});

/** The clock, once the server's list of transactions is no longer that of the last reading. */
const clock = async (...ignored: string[]) => {
  await database.raw("DO SLEEP(0.12)");
  return readClock(database, 0, true, ignored);
};
const PASSES = { waitsFor: undefined };
const [[{ id }]] = await billing.raw("SELECT CONNECTION_ID() AS id");
const { username } = new URL(server.url);
/** It waits for the session `billing`, and tells which one that is. */
const WAITS = { waitsFor: { session: Number(id), user: username, database: "billing" } };

/** Starts a statement. Resolves when it is in the state, to its end. */
async function start(pool: Knex, sql: string, state: string) {
  const ended = pool.raw(sql).then();
  const waiting = "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = ? AND STATE LIKE ?";
  await until(async () => (await database.raw(waiting, [sql, state]))[0].length > 0);
  return { ended };
}

it.each([
  ["an INSERT", CHARGE],
  ["a trigger", "INSERT INTO invoices (n) VALUES (1)"],
  ["a view", `INSERT INTO view ${COLUMNS} VALUES (1, 1, '2026-01-10', 1)`],
  ["a function in a SELECT", "SELECT charged()"],
  ["a procedure", "CALL charge()"],
  ["LOAD DATA", `LOAD DATA INFILE '${file}' INTO TABLE revenue.charges ${COLUMNS}`],
  ["an INSERT that reads charges", CHARGE.replace(/VALUES.*/, READ)],
  ["a rental's end", "UPDATE LOW_PRIORITY revenue.rentals SET ended_at = UTC_TIMESTAMP()"],
])(
  "%s from another schema, in an open transaction, holds the watermark, which tells its session, user and database",
  async (_, sql) => {
    await billing.raw("BEGIN");
    await billing.raw(sql);
    const { now, until: watermark, waitsFor } = await clock();
    expect({ waitsFor }).toMatchObject({ waitsFor: { ...WAITS.waitsFor, doubt: undefined } });
    expect(watermark < now).toBe(true);
  },
);

it("a charge from another schema, in a transaction longer than the margin, is never missing", async () => {
  await billing.raw("BEGIN");
  await billing.raw(CHARGE);
  await database.raw(CHARGE);
  await database.raw("DO SLEEP(0.12)");
  await rollUp(database, { margin: 0, seesTransactions: true });
  await billing.raw("COMMIT");
  await database.raw("DO SLEEP(0.12)");
  expect(await Array.fromAsync(verify(database, "1"))).toEqual([]);
  const result = await rollUp(database, { margin: 0, seesTransactions: true });
  expect(result).toMatchObject({ charges: 2, repairs: 0 });
});

it.each([
  ["a plain read", "billing", "SELECT COUNT(*) FROM revenue.charges"],
  ["a job elsewhere", "billing", "INSERT INTO facts (n) VALUES (1)"],
  [
    "a job elsewhere that reads charges",
    "billing",
    "INSERT INTO facts (n) SELECT COUNT(*) FROM revenue.charges",
  ],
  ["a write of another table of the schema", "revenue", "INSERT INTO wallets VALUES (1, 1)"],
])("the watermark passes %s", async (_name, schema, sql) => {
  const pool = schema === "billing" ? billing : ledger;
  await pool.raw("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  await pool.raw(sql);
  expect(await clock()).toMatchObject(PASSES);
});

it.each([
  ["passes a job elsewhere", "INSERT INTO facts (n) SELECT GET_LOCK('job', 60)", PASSES],
  ["waits for a function that writes in a SELECT", "SELECT GET_LOCK('job', 60), charged()", WAITS],
])("the watermark %s that runs", async (_, sql, expected) => {
  await other.raw("DO GET_LOCK('job', 0)");
  const running = await start(billing, sql, "User lock");
  expect(await clock()).toMatchObject(expected);
  await other.raw("DO RELEASE_LOCK('job')");
  await running.ended;
  await billing.raw("DO RELEASE_LOCK('job')");
});

it.each([
  ["invoices", "INSERT INTO invoices (n) VALUES (1)"],
  // It has the lock of one table, awaits that of another one, and comes to that of its trigger last.
  ["facts", "INSERT INTO invoices (n) SELECT n FROM facts"],
])(
  "the watermark waits for a statement that waits for %s, and has not come to its trigger",
  async (table, sql) => {
    await ledger.raw("BEGIN");
    await ledger.raw(`SELECT * FROM billing.${table}`);
    const alter = await start(other, `ALTER TABLE ${table} COMMENT 'altered'`, "%lock");
    const insert = await start(billing, sql, "%lock");
    expect(await clock()).toMatchObject(WAITS);
    await ledger.raw("ROLLBACK");
    await Promise.all([alter.ended, insert.ended]);
  },
);

it("the watermark waits for a statement behind a backup", async () => {
  await other.raw("FLUSH TABLES WITH READ LOCK");
  const behind = await start(billing, CHARGE, "%lock");
  expect((await clock()).waitsFor).toMatchObject({ database: "billing", doubt: undefined });
  await other.raw("UNLOCK TABLES");
  await behind.ended;
});

it("the watermark waits for a session under LOCK TABLES, and passes changes of the schema", async () => {
  await billing.raw("LOCK TABLES revenue.charges WRITE");
  expect(await clock()).toMatchObject(PASSES);
  await billing.raw("SET autocommit = 0");
  await billing.raw(CHARGE);
  expect(await clock()).toMatchObject({ waitsFor: { database: "billing" } });
  await billing.raw("ROLLBACK");
  await billing.raw("UNLOCK TABLES");
  await billing.raw("SET autocommit = 1");
  await ledger.raw("BEGIN");
  await ledger.raw("SELECT * FROM charges");
  const change = await start(billing, "ALTER TABLE revenue.charges COMMENT ''", "%lock");
  expect(await clock()).toMatchObject(PASSES);
  await ledger.raw("ROLLBACK");
  await change.ended;
});

it("the watermark waits for a prepared XA transaction, which has no session", async () => {
  const bank = session("billing");
  for (const step of ["XA START 'bill'", CHARGE, "XA END 'bill'", "XA PREPARE 'bill'"]) {
    await bank.raw(step);
  }
  await bank.destroy();
  await until(async () => {
    const { waitsFor } = await clock();
    return waitsFor !== undefined && waitsFor.session === undefined;
  });
  await database.raw("XA ROLLBACK 'bill'");
  expect(await clock()).toMatchObject(PASSES);
});

describe("where locks cannot tell who writes the ledger", () => {
  const DOUBT = "performance_schema.metadata_locks lists no locks";
  const JOB = "INSERT INTO facts (n) VALUES (1)";
  const instrument = (enabled: "YES" | "NO") =>
    database.raw("UPDATE performance_schema.setup_instruments SET ENABLED = ? WHERE NAME = ?", [
      enabled,
      MDL,
    ]);
  beforeEach(() => instrument("NO"));
  afterEach(() => instrument("YES"));

  it("the watermark waits for all that may write anywhere, says why, and passes schemas that it is to ignore", async () => {
    await other.raw("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    await other.raw("SELECT COUNT(*) FROM revenue.charges");
    expect(await clock()).toMatchObject(PASSES);
    await other.raw("ROLLBACK");
    await billing.raw("BEGIN");
    await billing.raw(JOB);
    expect(await clock("etl")).toMatchObject({ waitsFor: { ...WAITS.waitsFor, doubt: DOUBT } });
    expect(await clock("etl", "billing")).toMatchObject(PASSES);
  });

  it("the command tells who holds the watermark, and passes over --ignore-schema", async () => {
    // A pool closes sessions that are idle for 30 s.
    const open = await Promise.all(["billing", "revenue"].map((name) => connectTo(urlOf(name))));
    for (const session of open) {
      await session.query("BEGIN");
      await session.query("INSERT INTO billing.facts (n) VALUES (1)");
    }
    await database.raw("DO SLEEP(0.12)");
    const flags = ["--margin", "1", "--ignore-schema", "etl,billing"];
    const { code, stdout } = await runCommand("rollup", flags, server.url);
    expect(code).toBe(0);
    expect(parseLog(stdout).filter(({ msg }) => msg === "the watermark waits")).toMatchObject([
      {
        level: "warn",
        user: username,
        database: "revenue",
        session: open[1]?.threadId,
        doubt: DOUBT,
      },
    ]);
    for (const session of open) await session.end();
  });

  it("a transaction whose locks were taken when they were not listed counts", async () => {
    await billing.raw("BEGIN");
    await billing.raw(CHARGE);
    await instrument("YES");
    expect(await clock("billing")).toMatchObject(WAITS);
  });

  it("an account without the right to read them is told so", async () => {
    await instrument("YES");
    await database.raw("CREATE USER reader IDENTIFIED BY 'reader'");
    for (const privilege of ["SELECT ON revenue.*", "PROCESS ON *.*"]) {
      await database.raw(`GRANT ${privilege} TO reader`);
    }
    await billing.raw("BEGIN");
    await billing.raw(JOB);
    const url = Object.assign(new URL(server.url), { username: "reader", password: "reader" });
    const account = testPool(url.href, { maxConnections: 1 });
    await database.raw("DO SLEEP(0.12)");
    const doubt = expect.stringMatching(/^SELECT command denied .*metadata_locks/);
    expect((await readClock(account, 0, true)).waitsFor).toMatchObject({ doubt });
    await account.destroy();
  });

  // The last test: the server counts such locks as long as it runs.
  it("locks that the server could not list are not taken for none", async () => {
    await instrument("YES");
    expect(await whyLocksAreHidden(database)).toBeUndefined();
    const locks = Array.from({ length: LOCKS + 1 }, (_, n) => `GET_LOCK('lock ${n}', 0)`);
    await other.raw(`DO ${locks.join(", ")}`);
    await other.raw("DO RELEASE_ALL_LOCKS()");
    expect(await whyLocksAreHidden(database)).toMatch(
      /^Performance_schema_metadata_lock_lost is [1-9]/,
    );
  });
});
