/**
 * The service asked inside a transaction of the test's own, so that the raw ledger can be
 * read from the very snapshot that the answers came from.
 */
import fc from "fast-check";
import type { Knex } from "knex";
import { expect } from "vitest";
import type { Read, Row } from "../../../src/database/read.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { breakdownOf, overviewOf } from "../../revenue/ledger/ask.ts";
import { expectedBreakdown } from "../../revenue/ledger/breakdown-oracle.ts";
import { expectedOverview } from "../../revenue/ledger/overview-oracle.ts";
import { type AskedPeriod, anyPeriod } from "../../revenue/ledger/periods.ts";
import { readLedger } from "./stored.ts";

const DAY = 86_400_000;

/** How many answers were compared, and up to which cut the rollup held the ledger. */
export interface Compared {
  readonly answers: number;
  readonly cut: string | undefined;
}

/**
 * Asks for the overview and for periods of all shapes, sums the raw ledger of the same
 * snapshot, and expects every figure to be the same.
 */
export async function expectExact(
  database: Knex,
  provider: string,
  now = new Date().toISOString(),
): Promise<Compared> {
  const reader = await database.transaction(); // REPEATABLE READ, as every session here
  try {
    const service = createRevenueService(readWithin(reader));
    const periods = [...shapes(now), ...fc.sample(anyPeriod(now), 4)];
    const overview = await overviewOf(service, BigInt(provider), now);
    const answers = [];
    for (const { startDate, endDate } of periods) {
      answers.push(await breakdownOf(service, BigInt(provider), now, startDate, endDate));
    }
    const ledger = await readLedger(reader, provider);
    const state = await reader("rollups").where({ provider_id: provider }).first();
    const where = `provider ${provider} at ${now}, cut ${state?.cut}, generation ${state?.generation}`;
    expect(overview, `overview, ${where}`).toEqual(expectedOverview(ledger, now));
    for (const [index, { means }] of periods.entries()) {
      const about = `breakdown from ${means.start} to ${means.end}, ${where}`;
      expect(answers[index], about).toEqual(expectedBreakdown(ledger, means, now));
    }
    return { answers: periods.length + 1, cut: state?.generation > 0 ? state.cut : undefined };
  } finally {
    await reader.rollback();
  }
}

/** The service's `Read`, inside a transaction. */
function readWithin(reader: Knex.Transaction): Read {
  return async (sql, bindings) => {
    const [rows] = await reader
      .raw<[Row[], unknown]>(sql, bindings as Knex.RawBinding[])
      .options({ rowsAsArray: true });
    return rows;
  };
}

/** The default, all of time, the future, a day, one whose edges lie inside days, and an instant. */
function shapes(now: string): AskedPeriod[] {
  const ago = (ms: number) => new Date(Date.parse(now) - ms).toISOString();
  const between = (start: string, end: string) => ({
    startDate: start,
    endDate: end,
    means: { start, end },
  });
  const day = ago(DAY * (fc.sample(fc.nat(800), 1)[0] ?? 0)).slice(0, 10);
  return [
    { startDate: "", endDate: "", means: { start: ago(30 * DAY), end: now } },
    between("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    between(ago(-1), "2999-12-31T23:59:59.999Z"),
    {
      startDate: day,
      endDate: day,
      means: { start: `${day}T00:00:00.000Z`, end: `${day}T23:59:59.999Z` },
    },
    between(ago(417 * DAY + 12_345_678), ago(3 * DAY + 7_654_321)),
    between(ago(2_000), ago(2_000)),
  ];
}
