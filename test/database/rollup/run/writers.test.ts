/**
 * Who holds the watermark back: whoever may still write, whatever the schema of the session. What they write is never
 * missing, however long their statements wait or their transactions stay open. On a server of its own.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Knex } from "knex";
import { afterAll, afterEach, expect, it } from "vitest";
import { startPrivateDatabase } from "../../../../dev/private-database/private-database.ts";
import { migrateToLatest } from "../../../../src/db/migrate.ts";
import { readClock } from "../../../../src/rollup/write/run/clock.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { parseLog, runCommand } from "../../../support/commands/run-command.ts";
import { connectTo, testPool } from "../../../support/database.ts";
import { until } from "../../../support/poll.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";

const server = await startPrivateDatabase({
  bufferPool: "64M",
  serverOptions: ["--secure-file-priv=", "--local-infile=1"],
});
const urlOf = (schema: string) =>
  Object.assign(new URL(server.url), { pathname: `/${schema}` }).href;
const session = (schema: string) => testPool(urlOf(schema), { maxConnections: 1 });
const database = testPool(server.url, { maxConnections: 10 });
await migrateToLatest(database);
await database("providers").insert({ id: 1, name: "provider" });
await database("rentals").insert({ provider_id: 1, server_id: 1, started_at: "2026-01-10" });

const COLUMNS = "(provider_id, server_id, charged_at, gross)";
const CHARGE = `INSERT INTO revenue.charges ${COLUMNS} VALUES (1, 1, '2026-01-10', 777.77)`;
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
  for (const table of ["charges", "rollups", "rollup_sums", "rollup_increments"]) {
    await database(table).delete();
  }
});
afterAll(async () => {
  for (const pool of [...sessions, database]) await pool.destroy();
  await server.stop();
});

const sleep = (seconds: number) => database.raw("DO SLEEP(?)", [seconds]);
/** The clock, once the server's list of transactions is no longer that of the last reading. */
const clock = async (margin = 0) => {
  await sleep(0.12);
  return readClock(database, margin, true);
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
  ["a job that writes no charge", "INSERT INTO facts (n) VALUES (1)"],
])(
  "%s from another schema, in an open transaction, holds the watermark, which tells its session, user and database",
  async (_, sql) => {
    await billing.raw("BEGIN");
    await billing.raw(sql);
    const { now, until: watermark, waitsFor } = await clock();
    expect({ waitsFor }).toMatchObject(WAITS);
    expect(watermark < now).toBe(true);
  },
);

it.each([
  ["a plain read", "SELECT COUNT(*) FROM revenue.charges"],
  ["a consistent snapshot of a dump", "SELECT * FROM revenue.charges"],
])("the watermark passes %s in an open transaction", async (_, sql) => {
  await billing.raw("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  await billing.raw(sql);
  expect(await clock()).toMatchObject(PASSES);
});

it("the watermark passes a change of the schema that waits", async () => {
  await ledger.raw("BEGIN");
  await ledger.raw("SELECT * FROM charges");
  const change = await start(billing, "ALTER TABLE revenue.charges COMMENT ''", "%lock");
  expect(await clock()).toMatchObject(PASSES);
  await ledger.raw("ROLLBACK");
  await change.ended;
});

it.each([
  ["a trigger's table", "INSERT INTO invoices (n) VALUES (1)"],
  ["another table, before its trigger's", "INSERT INTO invoices (n) SELECT n FROM facts"],
  ["a backup", CHARGE],
])("the watermark waits for a statement behind a lock of %s", async (_, sql) => {
  await other.raw("FLUSH TABLES WITH READ LOCK");
  const behind = await start(billing, sql, "%lock");
  expect(await clock()).toMatchObject(WAITS);
  await other.raw("UNLOCK TABLES");
  await behind.ended;
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

it("the command tells who holds the watermark", async () => {
  // A pool closes sessions that are idle for 30 s.
  const open = await connectTo(urlOf("billing"));
  await open.query("BEGIN");
  await open.query("INSERT INTO facts (n) VALUES (1)");
  await sleep(2.1);
  const { code, stdout } = await runCommand("rollup", ["--margin", "1"], server.url);
  expect(code).toBe(0);
  expect(parseLog(stdout).filter(({ msg }) => msg === "the watermark waits")).toMatchObject([
    { level: "warn", user: username, database: "billing", session: open.threadId },
  ]);
  await open.end();
});

/** A margin, in s, and a time that is longer. The start of a transaction is in whole seconds. */
const [MARGIN, LONGER] = [3, 4.2];
const run = () => rollUp(database, { margin: 1_000 * MARGIN, seesTransactions: true });

/**
 * A rollup, and charges that were recorded long ago and are dated at every tenth of the seconds to come: so each run has
 * news, and moves the watermark as far as it may.
 */
async function build(): Promise<void> {
  const charged_at = (nth: number) =>
    database.raw("UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND", [100_000 * nth]);
  const charge = { provider_id: 1, server_id: 1, gross: 1, recorded_at: "2026-01-10" };
  await database("charges").insert(
    Array.from({ length: 300 }, (_, nth) => ({ ...charge, charged_at: charged_at(nth - 50) })),
  );
  await run();
}

/** Expects that the rollup lacks nothing, now and once the watermark has passed all that was written. */
async function expectNothingMissing(): Promise<void> {
  expect(await Array.fromAsync(verify(database, "1"))).toEqual([]);
  await sleep(MARGIN + 1.2);
  const { charges, repairs } = await run();
  expect(repairs).toBe(0);
  expect(charges).toBeGreaterThan(0);
  expect(await Array.fromAsync(verify(database, "1"))).toEqual([]);
}

it("a statement that waited for a metadata lock, in a transaction that stays open for longer than the margin, is never missing", async () => {
  await build();
  await other.raw("LOCK TABLES revenue.charges READ");
  await billing.raw("BEGIN");
  const { ended } = await start(billing, CHARGE, "%lock");
  // Longer than the second that a start may be off, so that recording is well before the transaction.
  await sleep(2.2);
  await other.raw("UNLOCK TABLES");
  await ended;
  await sleep(LONGER);
  await run();
  await billing.raw("COMMIT");
  await expectNothingMissing();
});

it("a billing batch whose first row comes after longer than the margin is never missing, also while its transaction stays open", async () => {
  await build();
  await other.raw("DO GET_LOCK('batch', 0)");
  await billing.raw("BEGIN");
  const batch = `INSERT INTO revenue.charges ${COLUMNS}
    SELECT id, 1, '2026-01-10', 777.77 FROM revenue.providers WHERE GET_LOCK(CONCAT('batch', LEFT(name, 0)), 60)`;
  const { ended } = await start(billing, batch, "User lock");
  await sleep(LONGER);
  await run();
  await other.raw("DO RELEASE_LOCK('batch')");
  await ended;
  await sleep(LONGER);
  await run();
  await billing.raw("COMMIT");
  await billing.raw("DO RELEASE_LOCK('batch')");
  await expectNothingMissing();
});

it("LOAD DATA from a client that is slower than the margin is never missing", async () => {
  await build();
  const client = await connectTo(urlOf("billing"));
  const rows = new PassThrough();
  rows.write("1\t1\t2026-01-10\t777.77\n");
  const ended = client.query({
    sql: `LOAD DATA LOCAL INFILE 'rows' INTO TABLE revenue.charges ${COLUMNS}`,
    infileStreamFactory: () => rows,
  });
  await sleep(LONGER);
  await run();
  rows.end("1\t1\t2026-01-10\t777.77\n");
  await ended;
  await client.end();
  await expectNothingMissing();
});

it("INSERTs behind an ALTER that takes longer than the margin are never missing", async () => {
  await build();
  await ledger.raw("BEGIN");
  await ledger.raw("SELECT * FROM charges");
  const alter = await start(other, "ALTER TABLE revenue.charges COMMENT 'altered'", "%lock");
  const insert = await start(billing, CHARGE, "%lock");
  await sleep(LONGER);
  // A run would wait behind the ALTER, and its clock comes before.
  const watermark = (await clock(1_000 * MARGIN)).until;
  await ledger.raw("ROLLBACK");
  await Promise.all([alter.ended, insert.ended]);
  const written = await database("charges").max("recorded_at AS last").first();
  expect(watermark < written?.last).toBe(true);
  await expectNothingMissing();
});
