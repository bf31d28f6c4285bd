/** Sums of more digits than a DOUBLE has: 142 rentals are enough, whose starts and ends are added up in ms. */
import { expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { databaseOfFile } from "../../file-database.ts";
import { build, charge, DAY, refreshTo, rental } from "./built.ts";
import { expectStored } from "./oracle.ts";

const { knex } = await databaseOfFile();

it("are exact after late rows", async () => {
  const at = (month: number, nth: number) => toDatetime(Date.UTC(2026, month, 1, 8) + nth);
  for (const month of [8, 9]) {
    const numbers = Array.from({ length: 301 }, (_, nth) => nth);
    await knex("rentals").insert(
      numbers.map((nth) => rental(at(month, nth), at(month, nth * 7_000_000), at(10, 0))),
    );
    await knex("charges").insert(
      numbers.map((nth) => charge(at(month, nth), at(10, 0), "999999999999.99")),
    );
  }
  await build(knex, "1", at(10, 86_400_000), DAY);
  const [{ gross, started_ms }] = await knex(TABLES.sums)
    .where({ total: 1 })
    .orderBy("at", "desc")
    .limit(1);
  for (const sum of [gross.replace(".", ""), started_ms]) {
    expect(BigInt(sum)).toBeGreaterThan(2n ** 53n);
  }
  const recorded = at(10, 2 * 86_400_000);
  await knex("charges").insert(charge(at(7, 1), recorded, "0.01"));
  await knex("rentals").insert(rental(at(7, 1), at(7, 86_400_002), recorded));
  await refreshTo(knex, "1", at(10, 3 * 86_400_000));
  await expectStored(knex);
});
