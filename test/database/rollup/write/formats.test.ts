/** Rollups of the format of another version of the program. */
import { beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { FORMAT } from "../../../../src/rollup/sums.ts";
import { CHECK_PERIOD } from "../../../../src/rollup/write/run.ts";
import { scheduleCheck } from "../../../../src/rollup/write/state.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { createComparison } from "../../../support/rollup/snapshot-oracle.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { charge } from "./built.ts";
import { expectStored } from "./oracle.ts";

const OTHER = FORMAT + 1;

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
/** Two providers with rollups of another format, whose sums are wrong for this one. */
beforeEach(async () => {
  for (const id of [1, 2]) {
    await knex("providers").insert({ id, name: "provider" });
    await knex("charges").insert({ ...charge("2025-09-05", "2025-12-01"), provider_id: id });
  }
  await rollUp(knex, { margin: 0 });
  await knex(TABLES.rollups).update({ format: OTHER });
  for (const table of [TABLES.sums, TABLES.increments]) {
    await knex(table).update({ format: OTHER, gross: "77.00" });
  }
});

/** Expects every table of rollups to have rows of these formats. */
async function expectFormats(...formats: number[]): Promise<void> {
  for (const table of Object.values(TABLES)) {
    expect(await knex(table).distinct("format").orderBy("format").pluck("format")).toEqual(formats);
  }
}
const checkedDaysAgo = (days: number, provider: number) =>
  knex(TABLES.rollups)
    .where({ format: OTHER, provider_id: provider })
    .update({ check_at: knex.raw("UTC_TIMESTAMP(3) - INTERVAL ? DAY", [days]) });

it("answers do not use them, and the next run builds rollups beside them", async () => {
  await createComparison(knex)("1");
  expect(await rollUp(knex, { margin: 0 })).toMatchObject({ news: 2, charges: 2 });
  await expectFormats(FORMAT, OTHER);
  await knex(TABLES.rollups).where({ format: OTHER }).del();
  await expectStored(knex);
});

it("they are deleted when no rollup of their format was written for a week", async () => {
  await checkedDaysAgo(30, 1);
  await checkedDaysAgo(6, 2);
  await rollUp(knex, { margin: 0 });
  await expectFormats(FORMAT, OTHER);
  await checkedDaysAgo(8, 2);
  await rollUp(knex, { margin: 0 });
  await expectFormats(FORMAT);
  await expectStored(knex);
});

it("they are not taken for unused where their checks have just been made due", async () => {
  await knex(TABLES.rollups).update({ format: FORMAT });
  for (const provider of ["1", "2"]) await scheduleCheck(knex, provider, CHECK_PERIOD);
  await knex(TABLES.rollups).update({ format: OTHER });
  await rollUp(knex, { margin: 0 });
  await expectFormats(FORMAT, OTHER);
});

// A service of the other version may still answer from it.
it("one that is deleted is not read while its sums go", async () => {
  for (const provider of [1, 2]) await checkedDaysAgo(8, provider);
  await knex.raw(
    `CREATE TRIGGER in_use BEFORE DELETE ON ${TABLES.sums} FOR EACH ROW
     BEGIN
       IF EXISTS (SELECT 1 FROM ${TABLES.rollups}
                  WHERE provider_id = OLD.provider_id AND format = OLD.format AND building = 0) THEN
         SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'its rollup is in use';
       END IF;
     END`,
  );
  await rollUp(knex, { margin: 0 }).finally(() => knex.raw("DROP TRIGGER in_use"));
  await expectFormats(FORMAT);
});
