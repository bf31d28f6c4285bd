import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { failed, lastLine, runCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const account = `keys_${randomBytes(6).toString("hex")}`;
const password = randomBytes(18).toString("base64url");

let database: TestDatabase;
let url: URL;

beforeAll(async () => {
  database = await createDatabase();
  const { knex, name } = database;
  await knex.raw(`CREATE USER ${account} IDENTIFIED BY '${password}'`);
  // The GRANTs of docs/operations.md for the account of `npm run key`.
  await knex.raw(`GRANT SELECT (id, name) ON ${name}.providers TO ${account}`);
  await knex.raw(`GRANT SELECT, INSERT, UPDATE (revoked_at) ON ${name}.api_keys TO ${account}`);
  await knex("providers").insert({ id: 1, name: "first" });
  url = Object.assign(new URL(database.url), { username: account, password });
});
afterAll(async () => {
  await database.knex.raw(`DROP USER ${account}`);
  await database.drop();
});

it("npm run key works with its documented privileges", async () => {
  const key = (...args: string[]) => runCommand("key", args, url.href);
  const made = await key("create", "--provider", "1", "--expires", "2999-01-01");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(await key("list")).toMatchObject({ code: 0, stderr: "" });
  expect(await key("revoke", lastLine(made.stdout))).toMatchObject({ code: 0, stderr: "" });
  expect(await key("revoke", "2")).toEqual(failed("key 2 does not exist"));
});

it("a missing privilege is reported with the database's message", async () => {
  await database.knex("providers").del();
  const { code, stdout, stderr } = await runCommand("seed", [], url.href);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^error: database error: SELECT command denied to user .* for table .*wallets.* \(ER_TABLEACCESS_DENIED_ERROR\)\n$/,
  );
});
