/** On a database without a default in UTC, like TiDB, the command tells if writers may be in another zone. */
import { expect, it } from "vitest";
import { checkRecording } from "../../../../src/rollup/write/run/recording.ts";
import { databaseOfFile } from "../../file-database.ts";

const { knex } = await databaseOfFile();

async function warnings(): Promise<string[]> {
  const warned: string[] = [];
  await checkRecording(knex, (message) => warned.push(message));
  return warned;
}

/** Fills `recorded_at` as TiDB does. */
const fillWith = (value: string) =>
  knex.raw(`ALTER TABLE charges MODIFY recorded_at datetime(3) NOT NULL DEFAULT ${value}`);

it("is silent where the database fills recorded_at in UTC", async () => {
  expect(await warnings()).toEqual([]);
});

it("warns where it does so in the zone of the writer, and that is not UTC by default", async () => {
  await fillWith("CURRENT_TIMESTAMP(3)");
  const [[{ zone }]] = await knex.raw("SELECT @@global.time_zone AS zone");
  try {
    await knex.raw("SET GLOBAL time_zone = '-05:00'");
    expect(await warnings()).toEqual([
      "recorded_at is filled in the time zone of the writer's session, by default -05:00: writers must set theirs to '+00:00', or rows are missing until they are compared",
    ]);
    await knex.raw("SET GLOBAL time_zone = '+00:00'");
    expect(await warnings()).toEqual([]);
  } finally {
    await knex.raw("SET GLOBAL time_zone = ?", [zone]);
  }
});
