/** What concerns a single provider holds back no other. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { charge, rollupOf } from "../write/built.ts";

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

it("if one fails, the other rollups are brought up to date, then the run fails with the provider and the reason", async () => {
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE INSERT ON rollup_sums FOR EACH ROW
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

it("one whose row another session keeps locked holds back only itself", async () => {
  await rollUp(database.knex, { margin: 0 });
  for (const id of [1, 2, 3]) {
    const row = { provider_id: id, server_id: 1, charged_at: "2025-09-05", gross: "2.00" };
    await database.knex("charges").insert(row);
  }
  const holder = await database.knex.transaction();
  await holder(TABLES.rollups).where({ provider_id: 2 }).forUpdate();
  const run = rollUp(database.knex, { margin: 0, concurrency: 2 });
  try {
    for (const provider of ["1", "3"]) {
      const gross = async () => (await rollupOf(database.knex, provider))?.gross;
      await expect.poll(gross, { timeout: 20_000 }).toBe("3.00");
    }
    expect(await rollupOf(database.knex, "2")).toMatchObject({ gross: "1.00" });
  } finally {
    await holder.commit();
  }
  expect(await run).toMatchObject({ news: 3, behind: 0, charges: 3 });
});
