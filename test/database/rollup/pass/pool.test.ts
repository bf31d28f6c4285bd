/** The sessions of the command. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { createRollupPool } from "../../../../src/rollup/write/pass/pool.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it("wait for the cluster where the server knows how to, and are in UTC", async () => {
  const warnings: string[] = [];
  const pool = createRollupPool(parseDatabaseUrl(database.url), 2, (line) => warnings.push(line));
  const [[{ zone }]] = await pool.raw("SELECT @@SESSION.time_zone AS zone");
  const [variables] = await pool.raw("SHOW SESSION VARIABLES LIKE 'wsrep_sync_wait'");
  await pool.destroy();
  expect(zone).toBe("+00:00");
  for (const { Value } of variables) expect(Value).toBe("1");
  const [[{ version }]] = await database.knex.raw("SELECT VERSION() AS version");
  expect(variables).toHaveLength(version.includes("MariaDB") ? 1 : 0);
  expect(warnings).toEqual([]);
});
