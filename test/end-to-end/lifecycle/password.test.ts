/**
 * A password of the database that changes under load, by the SQL of docs/deployment.md: no call fails, and nothing is
 * restarted. What is half-written is not used: test/unit/db/url-watch.test.ts.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { blocksWith } from "../../docs/markdown.ts";
import { type RunningCommand, startCommand } from "../../support/commands/run-command.ts";
import { connectTo, createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import {
  grpcLoadClient,
  type Load,
  restLoadClient,
  startLoad,
} from "../../support/service/load.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "revenue-secret-"));
const FILE = join(folder, "..data", "url");
const RELOADED = "database URL reloaded";

let database: TestDatabase;
let admin: Connection;
let engine: "MySQL" | "MariaDB";
let account: string;
let service: ServiceProcess;
let rollup: RunningCommand;
let load: Load;
let versions = 0;

/** The file as a Kubernetes Secret: a link that is switched to a folder of the new version. */
function writeSecret(text: string): void {
  const version = join(folder, `..${versions++}`);
  mkdirSync(version);
  writeFileSync(join(version, basename(FILE)), text);
  symlinkSync(version, join(folder, "..tmp"));
  renameSync(join(folder, "..tmp"), dirname(FILE));
}

function urlWith(password: string): string {
  const url = new URL(database.url);
  url.username = account;
  url.password = password;
  return url.href;
}

/** Runs what the document says for this engine, with a keyword in it. */
async function alter(keyword: string, passwords: { OLD: string; NEW: string }): Promise<void> {
  const block = blocksWith("sql", keyword).find((text) => text.startsWith(`-- ${engine}`)) ?? "";
  const { OLD, NEW } = passwords;
  const statement = block
    .replace(/^-- .*\n/, "")
    .replaceAll("'revenue'@", `'${account}'@`)
    .replaceAll("'NEW'", `'${NEW}'`)
    .replaceAll("'OLD'", `'${OLD}'`);
  await admin.query(statement);
}

/** Ends all connections of the account: whatever goes on needs new ones. */
async function endConnections(): Promise<number> {
  const [rows] = await admin.query<RowDataPacket[]>("SHOW PROCESSLIST");
  const own = rows.filter(({ User }) => User === account);
  for (const { Id } of own) await admin.query("KILL ?", [Id]).catch(() => {});
  return own.length;
}

const rollupLog = () => rollup.lines().map((line) => JSON.parse(line));
const logs = () => [service.log(), rollupLog()];
const linesWith = (message: string) =>
  logs().map((log) => log.filter(({ msg }) => `${msg}`.startsWith(message)));
const heartbeat = async () => `${(await database.knex("heartbeat").first())?.written_at}`;

/** Waits until calls were answered and the heartbeat was written with new connections. */
async function untilAllGoOn(): Promise<void> {
  const [answered, beat] = [load.answered(), await heartbeat()];
  await until(async () => load.answered() > answered + 20 && (await heartbeat()) > beat);
}

beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  const { key } = await issueKey(database.knex, "1", "test", null);
  admin = await connectTo(inject("databaseServer"));
  const [[version]] = await admin.query<RowDataPacket[]>("SELECT VERSION() AS version");
  engine = /mariadb/i.test(version?.version) ? "MariaDB" : "MySQL";
  account = database.name;
  await admin.query(`CREATE USER '${account}'@'%' IDENTIFIED BY 'first'`);
  await admin.query(`GRANT ALL ON ${database.name}.* TO '${account}'@'%'`);
  writeSecret(`${urlWith("first")}\n`);
  service = await startService("", { DATABASE_URL_FILE: FILE });
  vi.stubEnv("DATABASE_URL_FILE", FILE);
  rollup = startCommand("rollup", ["--watch", "0.2", "--margin", "1"]);
  load = startLoad([
    ...[1, 2].map(() => restLoadClient(service.http, key)),
    ...[1, 2].map(() => grpcLoadClient(service.grpc, key)),
  ]);
  await until(async () => (await database.knex("heartbeat").first()) !== undefined);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await load?.stop();
  await service?.kill();
  rollup?.signal("SIGKILL");
  await rollup?.ended;
  await admin?.query(`DROP USER IF EXISTS '${account}'@'%'`);
  await admin?.end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

it("a password that changes loses no call", async () => {
  const passwords = { OLD: "first", NEW: "second" };
  await untilAllGoOn();
  await alter(engine === "MySQL" ? "RETAIN" : "OR mysql_native", passwords);
  expect(await endConnections()).toBeGreaterThan(0);
  await untilAllGoOn();
  writeSecret(urlWith("second"));
  await until(() => linesWith(RELOADED).every(({ length }) => length === 1));
  await alter(engine === "MySQL" ? "DISCARD" : "IDENTIFIED BY 'NEW';", passwords);
  // The old password is of no use any more.
  await expect(connectTo(urlWith("first"))).rejects.toThrow("Access denied");
  expect(await endConnections()).toBeGreaterThan(0);
  await untilAllGoOn();
  await load.stop();
  const answers = load.results.map(({ result }) =>
    result.kind === "answered" ? result.answer.slice(0, 3) : JSON.stringify(result),
  );
  expect([...new Set(answers)].sort()).toEqual(["200", "OK"]);
  expect(linesWith("call failed")).toEqual([[], []]);
  // A run may lose a connection that is ended; none is refused.
  const reasons = rollupLog().map(({ reason }) => reason ?? "");
  expect(reasons.filter((reason) => /reject|denied/i.test(reason))).toEqual([]);
  const text = JSON.stringify(logs());
  for (const password of ["first", "second"]) expect(text).not.toContain(`:${password}@`);
});
