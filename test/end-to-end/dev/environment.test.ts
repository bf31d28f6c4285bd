import { spawnSync } from "node:child_process";
import { createConnection } from "mysql2/promise";
import { expect, inject, it } from "vitest";

const FOREIGN = "12/31/2026 19:00 1,5";
const SHOW = `process.stdout.write(
  new Date("2027-01-01T00:00Z").toLocaleDateString("en-US") + " " +
  new Date("2027-01-01T00:00Z").toTimeString().slice(0, 5) + " " + (1.5).toLocaleString())`;

it("is foreign in zone and locale, in the tests and in what they start", () => {
  const midnight = new Date("2027-01-01T00:00Z");
  const day = midnight.toLocaleDateString("en-US");
  const time = midnight.toTimeString().slice(0, 5);
  expect(`${day} ${time} ${(1.5).toLocaleString()}`).toBe(FOREIGN);
  expect(spawnSync(process.execPath, ["-e", SHOW], { encoding: "utf8" }).stdout).toBe(FOREIGN);
});

it.skipIf(process.env.DATABASE_URL)("is foreign in zone on the database server", async () => {
  const connection = await createConnection(inject("databaseServer"));
  const [rows] = await connection.query("SELECT @@time_zone AS zone");
  await connection.end();
  expect(rows).toEqual([{ zone: "-05:00" }]);
});
