/** What the service says where it cannot start: clear words, one line, exit code 1. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
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

function changed(change: Partial<URL>): string {
  return Object.assign(new URL(database.url), change).href;
}

async function refusal(DATABASE_URL: string, more: Record<string, string> = {}): Promise<string> {
  const { ending, stderr } = await runService({ DATABASE_URL, ...more });
  expect(ending).toBe(1);
  expect(stderr).not.toContain(new URL(DATABASE_URL).password);
  return stderr;
}

const UNREACHABLE =
  "the database in DATABASE_URL cannot be reached: is it running, and are host and port right?";

it("a database that is not there", async () => {
  const port = `${await freePort()}`;
  expect(await refusal(changed({ port }))).toBe(`cannot start: ${UNREACHABLE} (ECONNREFUSED)\n`);
});

it("a host that is not there", async () => {
  expect(await refusal(changed({ hostname: "database.invalid" }))).toMatch(
    /^cannot start: the database in DATABASE_URL cannot be reached: is it running, and are host and port right\? \((ENOTFOUND|EAI_AGAIN)\)\n$/,
  );
});

it("a port where nobody answers, within seconds", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  const port = typeof address === "object" ? `${address?.port}` : "";
  const began = performance.now();
  expect(await refusal(changed({ port }))).toMatch(
    /^cannot start: the database in DATABASE_URL cannot be reached/,
  );
  expect(performance.now() - began).toBeLessThan(8_000);
  silent.close();
});

it("a wrong password", async () => {
  expect(await refusal(changed({ password: "wrong-password" }))).toBe(
    "cannot start: the database in DATABASE_URL refuses the account: are user, password and database name right? (ER_ACCESS_DENIED_ERROR)\n",
  );
});

it("a database that does not exist", async () => {
  expect(await refusal(changed({ pathname: "/revenue_test_nowhere" }))).toBe(
    "cannot start: the database named in DATABASE_URL does not exist: create it first (ER_BAD_DB_ERROR)\n",
  );
});

describe("a schema that is", () => {
  const name = `revenue_test_${randomBytes(6).toString("hex")}`;
  const onServer = async (statement: string) => {
    const connection = await createConnection(inject("databaseServer"));
    await connection.query(statement);
    await connection.end();
  };
  afterAll(() => onServer(`DROP DATABASE IF EXISTS ${name}`));

  it("not there at all", async () => {
    await onServer(`CREATE DATABASE ${name}`);
    expect(await refusal(changed({ pathname: `/${name}` }))).toMatch(
      /^cannot start: the database's schema is behind by \d+ migrations \(0001_providers\.ts is the first\): run `npm run migrate`\n$/,
    );
  });

  it("behind by its last migration", async () => {
    const [last] = await database.knex("knex_migrations").orderBy("id", "desc").limit(1);
    await database.knex("knex_migrations").where({ id: last.id }).del();
    const told = await refusal(database.url);
    await database.knex("knex_migrations").insert(last);
    expect(told).toBe(
      `cannot start: the database's schema is behind by 1 migration (${last.name} is the first): run \`npm run migrate\`\n`,
    );
  });
});

it.each(["HTTP_PORT", "GRPC_PORT"])("a port that is taken (%s)", async (name) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" ? `${address?.port}` : "";
  const told = await refusal(database.url, { [name]: port });
  expect(told).toContain("EADDRINUSE");
  expect(told).toContain(port);
  expect(told.trimEnd().split("\n")).toHaveLength(1);
  await new Promise((resolve) => other.close(resolve));
});
