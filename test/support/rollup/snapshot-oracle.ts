/**
 * The service asked inside transactions of the test's own, so that the raw ledger can be
 * read from the very snapshot that the answers came from. What it remembers it takes from
 * one transaction to the next.
 */
import fc from "fast-check";
import type { Knex } from "knex";
import { expect } from "vitest";
import type { Binding, Row } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { breakdownOf, overviewOf } from "../ledger/ask.ts";
import { expectedBreakdown } from "../ledger/breakdown-oracle.ts";
import { expectedOverview } from "../ledger/overview-oracle.ts";
import { type AskedPeriod, anyPeriod } from "../ledger/periods.ts";
import { recorded, type StatementName } from "../statements.ts";
import { readLedger } from "./stored.ts";

const DAY = 86_400_000;

/** How many answers were compared, and up to which watermark the rollup held the ledger. */
export interface Compared {
  readonly answers: number;
  /** Of these, how many were given with what was remembered of the rollup. */
  readonly remembered: number;
  /** Whether the overview, and a breakdown, was given with what an earlier snapshot remembered. */
  readonly inherited: { readonly overview: boolean; readonly breakdown: boolean };
  /** For how many what was remembered was of no use: the rollup was another one by then. */
  readonly outdated: number;
  readonly watermark: string | undefined;
}

/**
 * Asks for the overview and for periods of all shapes, sums the raw ledger of the same
 * snapshot, and expects every figure to be the same.
 */
export type Comparison = (provider: string, now?: string) => Promise<Compared>;

/** Makes the comparison of one service, which lives as long. One comparison at a time. */
export function createComparison(database: Knex): Comparison {
  let reader: Knex.Transaction | undefined;
  const { read, taken } = recorded((sql, bindings) => readWithin(reader, sql, bindings));
  const service = createRevenueService(read);

  /** Asks everything, and then once more from the last to the first: those are remembered. */
  async function ask(id: bigint, now: string, periods: readonly AskedPeriod[]) {
    const answers: Answer[] = [];
    const questions = [undefined, ...periods];
    for (const period of [...questions, ...questions.toReversed()]) {
      const answer = period
        ? await breakdownOf(service, id, now, period.startDate, period.endDate)
        : await overviewOf(service, id, now);
      answers.push({ answer, period, asked: taken() });
    }
    return answers;
  }

  return async (provider, now = new Date().toISOString()) => {
    reader = await database.transaction(); // REPEATABLE READ, as every session here
    try {
      const periods = [...shapes(now), ...fc.sample(anyPeriod(now), 4)];
      const answers = await ask(BigInt(provider), now, periods);
      const ledger = await readLedger(reader, provider);
      const state = await reader("rollups").where({ provider_id: provider }).first();
      const where = `provider ${provider} at ${now}, watermark ${state?.watermark}, generation ${state?.generation}`;
      for (const { answer, period, asked } of answers) {
        const about = period ? `breakdown of ${JSON.stringify(period.means)}` : "overview";
        const expected = period
          ? expectedBreakdown(ledger, period.means, now)
          : expectedOverview(ledger, now);
        expect(answer, `${about}, ${where}, asked: ${asked}`).toEqual(expected);
      }
      const [overview, breakdown] = answers;
      return {
        answers: answers.length,
        remembered: answers.filter(wasRemembered).length,
        // Before these two nothing was remembered in this snapshot.
        inherited: { overview: wasRemembered(overview), breakdown: wasRemembered(breakdown) },
        outdated: answers.filter(({ asked }) => asked.length === 2).length,
        watermark: state?.generation > 0 ? state.watermark : undefined,
      };
    } finally {
      await reader.rollback();
    }
  };
}

/** Compares once, with a service that remembers nothing yet. */
export function expectExact(database: Knex, provider: string, now?: string): Promise<Compared> {
  return createComparison(database)(provider, now);
}

/** What was answered; without a period it is the overview. */
interface Answer {
  readonly answer: unknown;
  readonly period: AskedPeriod | undefined;
  /** The statements that it took. */
  readonly asked: readonly StatementName[];
}

const wasRemembered = (answer: Answer | undefined) =>
  answer?.asked.length === 1 && answer.asked[0]?.endsWith("BesideRollup") === true;

/** As the service's `Read`, but inside a transaction. */
async function readWithin(
  reader: Knex.Transaction | undefined,
  sql: string,
  bindings: readonly Binding[],
): Promise<Row[]> {
  if (reader === undefined) throw new Error("there is no snapshot to read from");
  const [rows] = await reader
    .raw<[Row[], unknown]>(sql, bindings as Knex.RawBinding[])
    .options({ rowsAsArray: true });
  return rows;
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
