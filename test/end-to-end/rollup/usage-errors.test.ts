/** The error messages of `npm run rollup`. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { runRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it.each([
  [["--margin", "soon"], "error: option '--margin <seconds>' argument 'soon' is invalid. "],
  [["--margin", "-1"], "error: option '--margin <seconds>' argument '-1' is invalid. "],
  [["--watch", "1e3"], "error: option '--watch <seconds>' argument '1e3' is invalid. "],
  [["--watch", "0"], "error: option '--watch <seconds>' argument '0' is invalid. "],
  [
    ["--check-period", "daily"],
    "error: option '--check-period <seconds>' argument 'daily' is invalid. ",
  ],
  [["--concurrency", "0"], "error: option '--concurrency <number>' argument '0' is invalid. "],
  [["--repair"], "error: --repair needs --verify"],
  [["--watch"], "error: option '--watch <seconds>' argument missing"],
  [["--quickly"], "error: unknown option '--quickly'"],
  [["now"], "error: too many arguments"],
])("%j is reported by the name of the option", async (args, error) => {
  const { code, stdout, stderr } = await runRollup(database.url, ...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(error);
});

it("an unavailable database is reported", async () => {
  const unavailable = Object.assign(new URL(database.url), { port: "1" });
  expect(await runRollup(unavailable.href)).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr:
      "error: cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct (ECONNREFUSED)\n",
  });
});

it("a database without the schema is reported", async () => {
  await database.knex.schema.dropTable("rollups");
  await database.knex("providers").insert({ id: 1, name: "first" });
  expect(await runRollup(database.url)).toMatchObject({
    code: 1,
    stderr:
      "error: the database lacks the tables of this service: run `npm run migrate` (ER_NO_SUCH_TABLE)\n",
  });
});
