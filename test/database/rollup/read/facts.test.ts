/**
 * Facts, then one statement that confirms them: whatever happens between the two, an answer is that of one
 * snapshot, or the database is unavailable.
 */
import { describe, expect, it } from "vitest";
import { fromDatetime } from "../../../../src/db/datetime.ts";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { factsStatement } from "../../../../src/rollup/read/facts.ts";
import { atTimeOfCall, breakdownOf } from "../../../support/ledger/call.ts";
import { build, charge, DAY, FIVE_MINUTES, MONTH } from "../write/built.ts";
import {
  createComparedService,
  createSmallDatabase,
  minute,
  NOW,
  wrapped,
  YEAR,
} from "./compared.ts";

const knex = await createSmallDatabase();
const WITHIN_DAYS = ["2026-03-04T12:00:00.000Z", NOW] as const;
const isFacts = (sql: string) => sql === factsStatement.sql;

/** Calls a function after each answer with facts. */
const afterFacts = (read: Read, act: (now: string) => unknown) =>
  wrapped(read, (query) => async (sql, ...rest) => {
    const rows = await query(sql, ...rest);
    if (isFacts(sql)) await act(rows[0]?.[2] ?? "");
    return rows;
  });

/** Calls a function before each statement that follows facts, with how many there were. */
function beforeStatement(read: Read, act: (nth: number) => unknown): Read {
  let nth = 0;
  return wrapped(read, (query) => async (sql, ...rest) => {
    if (!isFacts(sql)) await act(nth++);
    return query(sql, ...rest);
  });
}

describe("a rollup that changes between the facts and the statement", () => {
  it.each([
    ["once, to other leaves: the facts are asked for again", 1, ["facts", "fullBreakdown"]],
    [
      "each time: the facts are asked for a last time in a transaction",
      Infinity,
      ["facts", "fullBreakdown", "facts", "fullBreakdown"],
    ],
  ])("%s", async (_, times, again) => {
    await build(knex, "1", minute(2), DAY);
    const leaves = [FIVE_MINUTES, MONTH, DAY];
    const read = beforeStatement(createRead(knex), async (nth) => {
      if (nth < times) await build(knex, "1", minute(2), leaves[nth]);
    });
    const { breakdown } = createComparedService(knex, read);
    expect(await breakdown(WITHIN_DAYS)).toEqual(["facts", "fullBreakdown", ...again]);
  });

  it("while other leaves are cached: none of these is used", async () => {
    await build(knex, "1", minute(2), DAY);
    let leaf: typeof MONTH | undefined;
    const read = beforeStatement(createRead(knex), async () => {
      if (leaf !== undefined) await build(knex, "1", minute(2), leaf);
      leaf = undefined;
    });
    const { breakdown } = createComparedService(knex, read);
    expect(await breakdown(WITHIN_DAYS)).toEqual(["facts", "fullBreakdown"]);
    leaf = MONTH;
    const statements = ["facts", "cachedBreakdown", "facts", "fullBreakdown"];
    expect(await breakdown(WITHIN_DAYS)).toEqual(statements);
  });

  it("is deleted, or its watermark turns out to lie ahead of the clock: the ledger alone is read", async () => {
    for (const change of [
      () => knex(TABLES.rollups).del(),
      // As a clock that is set back makes it.
      () => knex(TABLES.rollups).update({ watermark: "9000-01-01" }),
    ]) {
      await build(knex, "1", minute(2), DAY);
      const read = beforeStatement(createRead(knex), async (nth) => {
        if (nth === 0) await change();
      });
      const { breakdown } = createComparedService(knex, read);
      expect(await breakdown(YEAR)).toEqual(["facts", "fullBreakdown", "facts", "rawBreakdown"]);
    }
  });

  it("has no leaves that there are: the ledger alone is read", async () => {
    await build(knex, "1", minute(2), DAY);
    await knex(TABLES.rollups).update({ leaf: "PT7X" });
    expect(await createComparedService(knex).breakdown(YEAR)).toEqual(["facts", "rawBreakdown"]);
  });

  it("even in a transaction, as behind a proxy that ignores those: the database is unavailable", async () => {
    await build(knex, "1", minute(2), DAY);
    const change = () => knex(TABLES.rollups).update({ version: knex.raw("version + 1") });
    // The statements of the transaction run outside of it.
    const read: Read = (work, options) =>
      createRead(knex)(({ query }) => work({ query, transaction: (inside) => inside() }), options);
    const service = createRevenueService(beforeStatement(read, change));
    await expect(breakdownOf(service, 1n, NOW, ...YEAR)).rejects.toMatchObject({
      kind: "databaseUnavailable",
      cause: { message: "the rollup differs between statements of one transaction" },
    });
  });
});

const getOverview = (read: Read, signal = new AbortController().signal) =>
  createRevenueService(read).getOverview(
    { $typeName: "revenue.v1.GetOverviewRequest" },
    { caller: { providerId: "1", share: "1" }, signal },
  );

it("nothing is sent for a caller that has left after the facts", async () => {
  const caller = new AbortController();
  const answered: string[] = [];
  const read = wrapped(createRead(knex), (query) => async (sql, ...rest) => {
    const rows = await query(sql, ...rest);
    answered.push(sql);
    return rows;
  });
  const leaves = afterFacts(read, () => caller.abort(new Error("left")));
  await expect(getOverview(leaves, caller.signal)).rejects.toThrow("left");
  // Whatever was sent on a connection has ended before another statement does.
  await getOverview(createRead(knex));
  expect(answered).toEqual([factsStatement.sql]);
});

it("what is committed between the two, dated up to now, is in the answer; what is dated later is not", async () => {
  await build(knex, "1", minute(2), DAY);
  const read = beforeStatement(atTimeOfCall(createRead(knex)), async () => {
    await knex("charges").insert([
      charge("2026-11-20 09:30:00.000", minute(40), "5.00"),
      charge("2026-11-20 09:30:00.001", minute(40), "50.00"),
    ]);
  });
  const answer = await breakdownOf(createRevenueService(read), 1n, NOW, ...YEAR);
  expect(answer).toMatchObject({ totalRevenue: { value: "105.00" } });
});

it("an answer is as of the instant of its facts", async () => {
  let at = "";
  const { asOf } = await getOverview(afterFacts(createRead(knex), (now) => (at = now)));
  expect(asOf).toBe(fromDatetime(at));
});
