/** What is wrong with one provider's rollup keeps nobody else's from being brought up to date. */
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

it("the others are brought up to date, and then it is told which one failed and why", async () => {
  await database.knex.raw(
    `CREATE TRIGGER wrong BEFORE INSERT ON rollup_figures FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN
         SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'something of its own';
       END IF;
     END`,
  );
  const failure = await rollUp(database.knex, { margin: 0 }).catch((error) => error);
  expect(failure).toBeInstanceOf(AggregateError);
  expect(failure.message).toMatch(/^provider 2: .*something of its own$/);
  for (const provider of ["1", "3"]) {
    expect(await rollupOf(database.knex, provider)).toMatchObject({ gross: "1.00" });
  }

  await database.knex.raw("DROP TRIGGER wrong");
  await rollUp(database.knex, { margin: 0 });
  expect(await rollupOf(database.knex, "2")).toMatchObject({ gross: "1.00" });
});
