/** The keys that runs name in their statements: what lacks them is named before a run begins. */
import { expect, it } from "vitest";
import { missingKeys, requireKeys } from "../../../../src/rollup/write/run/keys.ts";
import { databaseOfFile } from "../../file-database.ts";

const { knex } = await databaseOfFile();
const KEYS =
  "PRIMARY (provider_id, charged_at, …), charges_by_recording (provider_id, recorded_at, …)";

it.each([
  ["the tables of this service", "DO 0", []],
  [
    "a key of other columns",
    "ALTER TABLE rentals DROP KEY rentals_by_end, ADD KEY rentals_by_end (ended_at, provider_id)",
    ["rentals lacks keys that rollups need: rentals_by_end (provider_id, ended_at, …)"],
  ],
  ["no rentals at all", "DROP TABLE rentals", []],
  [
    "a view",
    "RENAME TABLE charges TO ledger; CREATE VIEW charges AS SELECT * FROM ledger",
    [`charges is a view: rollups need a table with the keys ${KEYS}`],
  ],
])("with %s", async (_, sql, missing) => {
  for (const statement of sql.split("; ")) await knex.raw(statement);
  expect(await missingKeys(knex)).toEqual(missing);
  const checked = expect(requireKeys(knex));
  if (missing.length === 0) await checked.resolves.toBeUndefined();
  else await checked.rejects.toThrow(`${missing[0]} (docs/adopt.md); without rollups`);
});
