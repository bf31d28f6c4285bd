/** Failed starts: one line that names the cause, and exit code 1. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { runService } from "../../support/service/service-process.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

/** The URL of the database with changes. */
function urlWith(change: Partial<URL>): string {
  return Object.assign(new URL(database.url), change).href;
}

/** Runs the service, which must fail without printing the password. Resolves to its stderr. */
async function failedStart(url: string, more: Record<string, string> = {}): Promise<string> {
  const { ending, stderr } = await runService({ DATABASE_URL: url, ...more });
  expect(ending).toBe(1);
  expect(stderr).not.toContain(new URL(url).password);
  return stderr;
}

/** A server that accepts connections and sends nothing. */
async function listen(): Promise<{ server: Server; port: string }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: `${(server.address() as AddressInfo).port}` };
}

const UNREACHABLE =
  "cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct";

describe.concurrent("the service does not start if", () => {
  it("no server listens on the port of DATABASE_URL", async () => {
    const port = `${await freePort()}`;
    expect(await failedStart(urlWith({ port }))).toBe(
      `cannot start: ${UNREACHABLE} (ECONNREFUSED)\n`,
    );
  });

  it("the host of DATABASE_URL is unknown", async () => {
    expect(await failedStart(urlWith({ hostname: "database.invalid" }))).toMatch(
      /^cannot start: cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct \((ENOTFOUND|EAI_AGAIN)\)\n$/,
    );
  });

  it("the server in DATABASE_URL does not respond", async () => {
    const { server, port } = await listen();
    const start = performance.now();
    expect(await failedStart(urlWith({ port }))).toMatch(
      /^cannot start: cannot reach the database in DATABASE_URL/,
    );
    expect(performance.now() - start).toBeLessThan(15_000);
    server.close();
  });

  it("the password is wrong", async () => {
    expect(await failedStart(urlWith({ password: "wrong-password" }))).toBe(
      "cannot start: the database in DATABASE_URL rejected the account: check the user, the password and the database name (ER_ACCESS_DENIED_ERROR)\n",
    );
  });

  it("the database does not exist", async () => {
    expect(await failedStart(urlWith({ pathname: "/revenue_test_nowhere" }))).toBe(
      "cannot start: the database in DATABASE_URL does not exist: create it first (ER_BAD_DB_ERROR)\n",
    );
  });
});

describe("the service does not start if the schema", () => {
  const name = `revenue_test_${randomBytes(6).toString("hex")}`;
  const onServer = async (statement: string) => {
    const connection = await createConnection(inject("databaseServer"));
    await connection.query(statement);
    await connection.end();
  };
  afterAll(() => onServer(`DROP DATABASE IF EXISTS ${name}`));

  it("has no table", async () => {
    await onServer(`CREATE DATABASE ${name}`);
    expect(await failedStart(urlWith({ pathname: `/${name}` }))).toMatch(
      /^cannot start: the database schema is \d+ migrations behind \(next: 0001_providers\.ts\): run `npm run migrate`\n$/,
    );
  });

  it("lacks the last migration", async () => {
    const [last] = await database.knex("knex_migrations").orderBy("id", "desc").limit(1);
    await database.knex("knex_migrations").where({ id: last.id }).del();
    const stderr = await failedStart(database.url);
    await database.knex("knex_migrations").insert(last);
    expect(stderr).toBe(
      `cannot start: the database schema is 1 migration behind (next: ${last.name}): run \`npm run migrate\`\n`,
    );
  });
});

it.each(["HTTP_PORT", "GRPC_PORT"])("the service does not start if %s is in use", async (name) => {
  const { server, port } = await listen();
  const stderr = await failedStart(database.url, { [name]: port });
  expect(stderr).toContain("EADDRINUSE");
  expect(stderr).toContain(port);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  server.close();
});
