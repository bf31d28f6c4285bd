/** What a start demands of the database, and `--check` tells. A session that is not as it was set up: odd-server.test.ts. */
import { expect, it, onTestFinished, vi } from "vitest";
import { check } from "../../../src/cli/check.ts";
import { readConfig } from "../../../src/config.ts";
import { checkDatabase, statementsOf } from "../../../src/database.ts";
import { readPageTokenKey } from "../../../src/db/page-token-key.ts";
import { databaseOfFile } from "../file-database.ts";

const { knex, url } = await databaseOfFile();
const config = readConfig({ DATABASE_URL: url, DATABASE_READ_MAX_LAG_MS: "600000" });
const [last] = await knex("knex_migrations").orderBy("id", "desc").limit(1);

/** What `--check` says besides what is well. */
async function errorsOf(): Promise<string[]> {
  using errors = vi.spyOn(console, "error").mockImplementation(() => {});
  using _ = vi.spyOn(console, "log").mockImplementation(() => {});
  const parts = { database: knex, checkSession: async () => {}, statements: statementsOf(config) };
  const isWell = await check(config, { ...parts, open: () => knex });
  const lines = errors.mock.calls.map(([line]) => `${line}`);
  expect(isWell).toBe(lines.length === 0);
  return lines;
}

it("a schema that is behind", async () => {
  await knex("knex_migrations").where({ id: last.id }).del();
  onTestFinished(() => knex("knex_migrations").insert(last));
  const problem = `the database schema is 1 migration behind (next: ${last.name}): run \`npm run migrate\``;
  expect(await errorsOf()).toEqual([`error: ${problem}`]);
  await expect(checkDatabase(config, knex, () => {})).rejects.toThrow(problem);
});

it("a key of page tokens, one for all instances; what the message says makes one", async () => {
  const key = await readPageTokenKey(knex);
  await knex("page_token_keys").del();
  const [error = ""] = await errorsOf();
  expect(error).toMatch(/^error: page_token_keys has no row with the provider_id 0: INSERT INTO /);
  await knex.raw(error.slice(error.indexOf("INSERT")));
  const other = await readPageTokenKey(knex);
  expect(other).toHaveLength(32);
  expect(other).not.toEqual(key);
  expect(await readPageTokenKey(knex)).toEqual(other);
});

it("data that is not too old, with which every call would fail", async () => {
  expect(await errorsOf()).toEqual([
    "error: calls would fail: there is no heartbeat, so the age of the data is unknown: run `npm run rollup -- --watch`",
  ]);
  await knex.raw("INSERT INTO heartbeat VALUES (1, UTC_TIMESTAMP(3))");
  expect(await errorsOf()).toEqual([]);
});
