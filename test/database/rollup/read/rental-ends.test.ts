/**
 * A rental whose end lies in the future has not ended: it may be extended, shortened or reopened,
 * even if it was last written before the watermark.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf } from "../../../support/ledger/call.ts";

const DAY = 86_400_000;
const day = (offset: number) => new Date(Date.now() + offset * DAY).toISOString();
const datetime = (offset: number) => day(offset).replace("T", " ").slice(0, 23);

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const table of ["providers", "servers", "rentals"]) await database.knex(table).del();
  await database.knex("providers").insert({ id: 1, name: "provider" });
  await database.knex("servers").insert({
    ...{ id: 1, provider_id: 1, uuid: "1", name: "server", status: "Active" },
    price_per_hour: 1,
  });
  // From 30 days ago to 5 days from now.
  await database
    .knex("rentals")
    .insert({ ...rental, started_at: datetime(-30), ended_at: datetime(5) });
  await rollUp(database.knex, { margin: 0, rebuild: true });
});

const rental = { provider_id: 1, server_id: 1 };
const endAt = (end: string | null) => database.knex("rentals").update({ ended_at: end });

describe.each([
  ["is unchanged", undefined, [1, 1, 1, 0, 1]],
  ["is extended", datetime(15), [1, 1, 1, 1, 1]],
  ["is shortened", datetime(-10), [1, 0, 0, 0, 0]],
  ["is reopened", null, [1, 1, 1, 1, 1]],
] as const)(
  "a rental with a future end that %s",
  (_, end, [before, lately, ahead, later, running]) => {
    it.each(["before", "after"])("is counted correctly %s the next rollup run", async (when) => {
      const service = createRevenueService(createRead(database.knex));
      const counts = async () => {
        const periods = [
          [-20, -15],
          [-5, -1],
          [2, 4],
          [8, 12],
        ] as const;
        const counted: unknown[] = [];
        for (const [from, to] of periods) {
          const response = await breakdownOf(service, 1n, day(0), day(from), day(to));
          const { totalRentals, activeRentals } = response as Record<string, number>;
          counted.push(totalRentals);
          if (from === 8) counted.push(activeRentals);
        }
        return counted;
      };
      await counts(); // fills the cache
      if (end !== undefined) await endAt(end);
      if (when === "after") await rollUp(database.knex, { margin: 0 });
      for (const _again of [1, 2]) {
        expect(await counts()).toEqual([before, lately, ahead, later, running]);
      }
      expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
    });
  },
);

it("a rental is added when the watermark passes its end, without another write", async () => {
  const ended = async () => {
    const rows = await database
      .knex("rollup_figures")
      .where({ provider_id: 1 })
      .max("ended as count");
    return Number(rows[0]?.count ?? 0);
  };
  await database.knex("rentals").update({ ended_at: datetime(-1), updated_at: datetime(-3) });
  await rollUp(database.knex, { margin: 2 * DAY, rebuild: true });
  expect(await ended()).toBe(0);
  await rollUp(database.knex, { margin: DAY / 2 });
  expect(await ended()).toBe(1);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});
