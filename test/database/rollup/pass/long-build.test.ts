/** A build that takes longer than the time of a run. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { rollupOf } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const SMALL = { servers: 2, instances: 0, charges: 20 };

it("delays no other provider: they are brought up to date by every run, and it goes on after them", async () => {
  await addBulk(database.knex, [
    { provider: 2, ...SMALL },
    { provider: 3, ...SMALL },
  ]);
  await rollUp(database.knex, { margin: 0 });
  await addBulk(database.knex, [{ provider: 1, servers: 5, instances: 5, charges: 40_000 }]);
  const options = { margin: 0, maxTime: 1, concurrency: 1 };
  const runs = [];
  do {
    const charge = { provider_id: 2, server_id: 2_001, charged_at: "2026-01-01", gross: "1.00" };
    await database.knex("charges").insert(charge);
    runs.push(await rollUp(database.knex, options));
    // The provider with the long build is behind; the others are not.
    const [[{ gross }]] = await database.knex.raw(
      "SELECT SUM(gross) AS gross FROM charges WHERE provider_id = 2",
    );
    expect(await rollupOf(database.knex, "2")).toMatchObject({ gross });
  } while (runs.at(-1)?.unfinished && runs.length < 100);
  expect(runs.length).toBeGreaterThan(2);
  expect(runs.reduce((charges, run) => charges + run.charges, 0)).toBe(40_000 + runs.length);
  for (const id of ["1", "2", "3"]) await expectStored(database.knex, id);
});
