/**
 * A rental whose end lies ahead has not ended: it may be extended, watermark short or opened again,
 * also after a rollup has seen it.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { breakdownOf } from "../../../support/ledger/ask.ts";

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
  // From a month ago until in five days.
  await database
    .knex("rentals")
    .insert({ ...rental, started_at: datetime(-30), ended_at: datetime(5) });
  await rollUp(database.knex, { margin: 0, rebuild: true });
});

const rental = { provider_id: 1, server_id: 1 };
const endAt = (end: string | null) => database.knex("rentals").update({ ended_at: end });

describe.each([
  ["stays as it is", undefined, [1, 1, 1, 0, 1]],
  ["is extended", datetime(15), [1, 1, 1, 1, 1]],
  ["is watermark short", datetime(-10), [1, 0, 0, 0, 0]],
  ["is opened again", null, [1, 1, 1, 1, 1]],
] as const)("one that %s", (_, end, [before, lately, ahead, later, running]) => {
  it.each(["before", "after"])("is counted right %s the next rollup", async (when) => {
    const service = createRevenueService(createRead(database.knex));
    const counts = async () => {
      const periods = [
        [-20, -15],
        [-5, -1],
        [2, 4],
        [8, 12],
      ] as const;
      const told: unknown[] = [];
      for (const [from, to] of periods) {
        const answer = await breakdownOf(service, 1n, day(0), day(from), day(to));
        const { totalRentals, activeRentals } = answer as Record<string, number>;
        told.push(totalRentals);
        if (from === 8) told.push(activeRentals);
      }
      return told;
    };
    await counts(); // so that there is something remembered
    if (end !== undefined) await endAt(end);
    if (when === "after") await rollUp(database.knex, { margin: 0 });
    for (const _again of [1, 2]) {
      expect(await counts()).toEqual([before, lately, ahead, later, running]);
    }
    expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
  });
});

it("one that ends as time goes by is taken up by the rollup", async () => {
  // Written long ago, so that it is its end alone that brings it in.
  const end = datetime(2_000 / DAY);
  await database.knex("rentals").update({ ended_at: end, updated_at: datetime(-2) });
  await rollUp(database.knex, { margin: 0, rebuild: true });
  const held = () =>
    database.knex("rollup_figures").where({ provider_id: 1 }).sum("ended as count");
  expect(Number((await held())[0]?.count ?? 0)).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  await rollUp(database.knex, { margin: 0 });
  expect(Number((await held())[0]?.count ?? 0)).toBeGreaterThan(0);
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});
