/** The environment of the tests: a time zone other than UTC and a locale other than English. */
import { spawnSync } from "node:child_process";
import { createConnection } from "mysql2/promise";
import { expect, inject, it } from "vitest";

const EXPECTED = "12/31/2026 19:00 1,5";
/** A program that prints the same in its own process. */
const PROGRAM = `process.stdout.write(
  new Date("2027-01-01T00:00Z").toLocaleDateString("en-US") + " " +
  new Date("2027-01-01T00:00Z").toTimeString().slice(0, 5) + " " + (1.5).toLocaleString())`;

it("the tests and the processes that they start have the time zone and the locale", () => {
  const midnight = new Date("2027-01-01T00:00Z");
  const day = midnight.toLocaleDateString("en-US");
  const time = midnight.toTimeString().slice(0, 5);
  expect(`${day} ${time} ${(1.5).toLocaleString()}`).toBe(EXPECTED);
  expect(spawnSync(process.execPath, ["-e", PROGRAM], { encoding: "utf8" }).stdout).toBe(EXPECTED);
});

it.skipIf(process.env.DATABASE_URL)("the database server has the time zone", async () => {
  const connection = await createConnection(inject("databaseServer"));
  const [rows] = await connection.query("SELECT @@time_zone AS zone");
  await connection.end();
  expect(rows).toEqual([{ zone: "-05:00" }]);
});
