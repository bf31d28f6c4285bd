/**
 * Cached prefix sums as the base for later instants. The service of the fixture compares each answer
 * with that of a service without a cache.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { uncoveredBreakdown } from "../../../../src/revenue/breakdown/queries.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { breakdownOf } from "../../../support/ledger/call.ts";
import {
  charge,
  createCachingFixture,
  minute,
  moveCheckpoints,
  NOW,
  refreshTo,
  rollUpTo,
} from "./caching.ts";

const fixture = createCachingFixture();
const UNCOVERED = ["uncoveredBreakdown"];

/** Stores charges of 1.00, one a minute, from the beginning of a day on. */
function insertFrom(day: string, count: number) {
  const rows = Array.from({ length: count }, (_, index) => {
    const at = toDatetime(Date.parse(`${day}T00:00:00Z`) + 60_000 * index);
    return charge(at, "1.00", { recorded: 1 });
  });
  return fixture.database.knex.batchInsert("charges", rows, 1_000);
}

const breakdown = (start: string, end: string) => fixture.service.breakdown([start, end]);

it("a later sum is cached too if many charges lie between, and the earlier one stays as it was", async () => {
  await insertFrom("2026-03-10", 1_000);
  await rollUpTo(fixture.database.knex, 2);
  await moveCheckpoints(fixture.database.knex, ["2026-03-01", "2026-05-01"]);
  const times = [
    "2026-03-10T01:00Z",
    "2026-03-10T08:00Z",
    "2026-03-10T08:01Z",
    "2026-03-10T01:00Z",
  ];
  await breakdown("2026-03-01", "2026-03-10T01:00Z");
  for (const edge of [...times, ...times]) {
    expect((await breakdown("2026-03-01", edge)).statements).toEqual(UNCOVERED);
    await breakdown(edge, "2026-03-10T16:00Z"); // compared only
  }
});

it("a sum that is no longer right is evicted", async () => {
  await insertFrom("2026-03-10", 3);
  await rollUpTo(fixture.database.knex, 2);
  await moveCheckpoints(fixture.database.knex, ["2026-03-01", "2026-05-01"]);
  const period = ["2026-03-01", "2026-03-10T00:01Z"] as const;
  await breakdown(...period);
  await fixture.database.knex("charges").where({ charged_at: "2026-03-10 00:01:00.000" }).del();
  expect((await breakdown(...period)).statements).toEqual([...UNCOVERED, "fullBreakdown"]);
  expect((await breakdown(...period)).statements).toEqual(UNCOVERED);
});

it("an edge at a checkpoint is the base for the instants after it", async () => {
  await rollUpTo(fixture.database.knex, 2);
  await moveCheckpoints(fixture.database.knex, ["2026-03-01", "2026-05-01"]);
  await breakdown("2026-02-01", "2026-03-01T00:00:00.000Z");
  const later = await breakdown("2026-02-01", "2026-03-01T00:00:00.001Z");
  expect(later.statements).toEqual(UNCOVERED);
});

it("an edge before all of time is the base for those in the first segment", async () => {
  await insertFrom("2025-12-01", 300);
  await rollUpTo(fixture.database.knex, 2);
  await moveCheckpoints(fixture.database.knex, ["2026-03-01"]);
  await breakdown("0001-01-01", "9999-12-31");
  for (let time = 0; time < 3; time++) {
    expect((await breakdown("0001-01-01", "2025-12-31")).statements).toEqual(UNCOVERED);
  }
});

it("no sum outlasts the rollup that it was read from, if all tables are emptied", async () => {
  const { knex } = fixture.database;
  const months = ["2026-01-05", "2026-02-05", "2026-03-05", "2026-04-05"];
  await knex("charges").insert(
    months.map((month) => charge(`${month} 00:00:00.000`, "1.00", { recorded: 1 })),
  );
  await knex("rentals").insert({
    ...{ provider_id: 1, server_id: 1, updated_at: minute(1) },
    ...{ started_at: "2026-01-06 00:00:00.000", ended_at: "2026-01-07 00:00:00.000" },
  });
  await rollUpTo(knex, 10);
  const period = ["2026-01-05", "2026-01-20"] as const;
  await breakdown(...period);
  await knex("rentals").update({ updated_at: minute(30) });
  for (const table of Object.values(TABLES)) await knex(table).del();
  await sleep(1_010); // a build sets the revision to the time in seconds
  await rollUpTo(knex, 8); // earlier than before: the rental is not covered
  await knex("charges").insert(charge("2026-11-15 00:00:00.000", "1.00", { recorded: 11 }));
  await refreshTo(knex, 12);
  expect((await breakdown(...period)).statements).toContain("fullBreakdown");
});

it("what completing a sum reads is bounded: the charges since are few, and many are verified once in a second", async () => {
  await insertFrom("2026-03-10", 4_000);
  await rollUpTo(fixture.database.knex, 2);
  await moveCheckpoints(fixture.database.knex, ["2026-03-01", "2026-05-01"]);
  const read = createRead(fixture.database.knex);
  const asked: Record<string, string>[] = [];
  const service = createRevenueService((sql, bindings, options) => {
    const { parameters } = uncoveredBreakdown;
    if (sql === uncoveredBreakdown.sql) {
      asked.push(Object.fromEntries(parameters.map((name, at) => [name, String(bindings[at])])));
    }
    return read(sql, bindings, options);
  });
  const ask = (end: string) => breakdownOf(service, 1n, NOW, "2026-03-01", end);
  await ask("2026-03-12T20:00Z"); // 4,000 charges after the checkpoint
  await sleep(1_010);
  for (const end of ["2026-03-12T20:01Z", "2026-03-12T20:01Z"]) await ask(end);
  expect(asked.map(({ verify }) => verify)).toEqual(["1", "0"]);
  await ask("2026-03-10T01:00Z");
  for (const end of ["2026-03-10T08:00Z", "2026-03-10T08:01Z"]) await ask(end);
  const from = asked.slice(-2).map(({ endFrom }) => endFrom);
  expect(from).toEqual(["2026-03-10 01:00:00.000", "2026-03-10 08:00:00.000"]);
});
