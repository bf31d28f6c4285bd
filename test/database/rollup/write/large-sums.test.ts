/** Sums of more digits than a DOUBLE has: 142 rentals are enough, whose starts and ends are added up in ms. */
import { beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { build, charge, DAY, differences, refreshTo, rental } from "./built.ts";
import { expectStored } from "./oracle.ts";

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
beforeEach(() => knex("providers").insert({ id: 1, name: "" }));

const RECORDED = "2026-11-01 00:00:00.000";
const ms = (nth: number) => String(nth % 1_000).padStart(3, "0");

it("are exact after late rows", async () => {
  for (const month of ["09", "10"]) {
    await knex("rentals").insert(
      Array.from({ length: 301 }, (_, nth) =>
        rental(
          `2026-${month}-01 08:00:00.${ms(nth)}`,
          `2026-${month}-20 09:30:00.${ms(7 * nth)}`,
          RECORDED,
        ),
      ),
    );
    await knex("charges").insert(
      Array.from({ length: 301 }, (_, nth) =>
        charge(`2026-${month}-01 08:00:00.${ms(nth)}`, RECORDED, "999999999999.99"),
      ),
    );
  }
  await build(knex, "1", "2026-11-10 00:00:00.000", DAY);
  const [{ gross, started_ms }] = await knex(TABLES.sums)
    .where({ total: 1 })
    .orderBy("at", "desc")
    .limit(1);
  for (const sum of [gross.replace(".", ""), started_ms]) {
    expect(BigInt(sum)).toBeGreaterThan(2n ** 53n);
  }
  await knex("charges").insert(charge("2026-08-01 10:00:00.000", "2026-11-11", "0.01"));
  await knex("rentals").insert(
    rental("2026-08-02 10:00:00.001", "2026-08-03 10:00:00.002", "2026-11-11"),
  );
  await refreshTo(knex, "1", "2026-11-12 00:00:00.000");
  expect(await differences(knex)).toEqual([]);
  await expectStored(knex);
});
