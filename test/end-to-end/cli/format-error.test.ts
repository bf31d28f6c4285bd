/** What a start or a command says if something is wrong with the database: one line, without a stack. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { formatError } from "../../../src/cli/format-error.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { failed, runCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The URL of the test database, changed. */
const urlWith = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;

/** The line about a database that cannot be read. */
async function lineFor(change: Partial<URL>): Promise<string> {
  // A question to DNS that is lost takes five seconds.
  const pool = createPool(parseDatabaseUrl(urlWith(change)), { connectTimeout: 30_000 });
  onTestFinished(() => pool.destroy());
  return formatError(await pool("providers").catch((error) => error));
}

it.each<[string, () => Partial<URL>, string | RegExp]>([
  [
    "on an unknown host",
    () => ({ hostname: "database.invalid" }),
    /^cannot reach the database in DATABASE_URL: check that .* host and port are correct \((ENOTFOUND|EAI_AGAIN)\)$/,
  ],
  [
    "that rejects the account",
    () => ({ password: "wrong" }),
    "the database in DATABASE_URL rejected the account: check the user, the password, percent-encoded, and the database name (ER_ACCESS_DENIED_ERROR)",
  ],
  [
    "that does not exist",
    () => ({ pathname: `/${database.name}_not` }),
    /^database error: Unknown database '.*_not' \(ER_BAD_DB_ERROR\)$/,
  ],
  [
    "without tables",
    () => ({ pathname: "/mysql" }),
    "the database lacks the tables of this service: run `npm run migrate` (ER_NO_SUCH_TABLE)",
  ],
])("a database %s", async (_, change, line) => {
  expect(await lineFor(change())).toEqual(
    typeof line === "string" ? line : expect.stringMatching(line),
  );
});

it.each([
  [
    "all shards",
    { code: "ER_REQUIRES_PRIMARY_KEY", sqlMessage: "'heartbeat' has no primary vindex" },
    "DATABASE_URL leads to all shards of a keyspace of Vitess: run this command for each of them, with the shard behind the keyspace's name (mysql://host/revenue:-80) (ER_REQUIRES_PRIMARY_KEY)",
  ],
  [
    "a tablet",
    { code: "ER_QUERY_INTERRUPTED", sqlMessage: "vttablet: Row count exceeded 10000" },
    "a statement has more rows than a tablet of Vitess returns: raise its --queryserver-config-max-result-size",
  ],
])("an error of %s says what to do", (_, fields, line) => {
  expect(formatError(Object.assign(new Error(fields.sqlMessage), fields))).toBe(line);
});

it("a plugin of the server that the driver lacks is named, with what to use", async () => {
  // Asks every client to go on with MariaDB's ed25519, which its smallest packages do not have.
  const packet = (nth: number, ...parts: readonly (string | readonly number[])[]) => {
    const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
    return Buffer.concat([Buffer.from([body.length, 0, 0, nth]), body]);
  };
  const salt = "abcdefghijklmnopqrst";
  const flags = [0xff, 0xf7, 45, 2, 0, 0xff, 0x81, 21, ...Buffer.alloc(10)];
  const greeting = [[10], "11.4.2-MariaDB\0", [1, 0, 0, 0], salt.slice(0, 8), [0], flags] as const;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(packet(0, ...greeting, `${salt.slice(8)}\0mysql_native_password\0`));
    socket.once("data", () => socket.write(packet(2, [0xfe], `client_ed25519\0${salt}${salt}`)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const line = await lineFor({ host: `127.0.0.1:${port}` });
  server.close();
  expect(line).toBe(
    "the account in DATABASE_URL authenticates with client_ed25519, which is not supported: use caching_sha2_password on MySQL, and on MariaDB mysql_native_password (ALTER USER … IDENTIFIED VIA mysql_native_password USING PASSWORD('…'))",
  );
});

it("a missing file is not taken for a missing database", () => {
  const message = "ENOENT: no such file or directory, open 'gen/openapi.json'";
  expect(formatError(Object.assign(new Error(message), { code: "ENOENT" }))).toBe(message);
});

it("a command prints the line, and ends with exit code 1", async () => {
  const line =
    "cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct (ECONNREFUSED)";
  expect(await runCommand("migrate", [], "mysql://u:hunter2@127.0.0.1:1/d")).toEqual(failed(line));
});
