import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failed, runCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let blank: string;

beforeAll(async () => {
  database = await createDatabase();
  blank = `${database.name}_blank`;
  await database.knex.raw(`CREATE DATABASE ${blank}`);
});
afterAll(async () => {
  await database.knex.raw(`DROP DATABASE ${blank}`);
  await database.drop();
});

/** The URL of the test database, changed. */
const urlWith = (change: Partial<Pick<URL, "host" | "pathname" | "username">>) =>
  Object.assign(new URL(database.url), change).href;

describe.each([
  ["key", ["list"]],
  ["seed", []],
])("npm run %s reports in one line, without a stack, that", (name, args) => {
  it("DATABASE_URL is missing", async () => {
    const { code, stdout, stderr } = await runCommand(name, args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: DATABASE_URL .*\n$/);
  });

  it("DATABASE_URL is malformed, without repeating it", async () => {
    const { code, stderr } = await runCommand(name, args, "postgres://me:secret@here/revenue");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: DATABASE_URL .*\n$/);
    expect(stderr).not.toContain("secret");
  });

  it("the database cannot be reached", async () => {
    expect(await runCommand(name, args, urlWith({ host: "127.0.0.1:1" }))).toEqual(
      failed(
        "cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct (ECONNREFUSED)",
      ),
    );
  });

  it("the account is rejected", async () => {
    expect(await runCommand(name, args, urlWith({ username: "nobody_of_this_name" }))).toEqual(
      failed(
        "the database in DATABASE_URL rejected the account: check the user, the password and the database name (ER_ACCESS_DENIED_ERROR)",
      ),
    );
  });

  it("the database does not exist", async () => {
    expect(await runCommand(name, args, urlWith({ pathname: `/${blank}_not` }))).toEqual(
      failed("the database in DATABASE_URL does not exist: create it first (ER_BAD_DB_ERROR)"),
    );
  });

  it("its tables are missing", async () => {
    expect(await runCommand(name, args, urlWith({ pathname: `/${blank}` }))).toEqual(
      failed(
        "the database lacks the tables of this service: run `npm run migrate` (ER_NO_SUCH_TABLE)",
      ),
    );
  });
});
