/** An error that concerns a single provider. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { charge, rollupOf } from "./built.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
  for (const id of [1, 2, 3]) {
    await database.knex("providers").insert({ id, name: "provider" });
    await database
      .knex("charges")
      .insert({ ...charge("2025-09-05", "2025-12-01"), provider_id: id });
  }
});
afterEach(() => database.drop());

it("the other rollups are brought up to date, then the run fails with the provider and the reason", async () => {
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE INSERT ON rollup_figures FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN
         SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'only provider 2';
       END IF;
     END`,
  );
  const error = await rollUp(database.knex, { margin: 0 }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(AggregateError);
  expect(error.message).toMatch(/^provider 2: .*only provider 2$/);
  for (const provider of ["1", "3"]) {
    expect(await rollupOf(database.knex, provider)).toMatchObject({ gross: "1.00" });
  }

  await database.knex.raw("DROP TRIGGER failing");
  await rollUp(database.knex, { margin: 0 });
  expect(await rollupOf(database.knex, "2")).toMatchObject({ gross: "1.00" });
});
