/** The SQL statements of the revenue service, by name, and a `Read` that records which of them ran. */
import { fromDatetime, LAST_INSTANT } from "../../src/db/datetime.ts";
import type { Read } from "../../src/db/query.ts";
import { fullBreakdown, uncoveredBreakdown } from "../../src/revenue/breakdown/queries.ts";
import { readBoundaries } from "../../src/revenue/breakdown/reader.ts";
import { startsOfMonths } from "../../src/revenue/calendar.ts";
import { daysOf, listDays, questionFor } from "../../src/revenue/daily/days.ts";
import {
  dailyOfMaximum,
  dailyOfMonth,
  zonedDailyOfMaximum,
  zonedDailyOfMonth,
} from "../../src/revenue/daily/queries.ts";
import {
  fullOverview,
  monthParameters,
  uncoveredOverview,
} from "../../src/revenue/overview/queries.ts";
import { BEFORE_FIRST } from "../../src/revenue/payouts/page-token.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "../../src/revenue/payouts/queries.ts";
import type { RequestedPeriod } from "../../src/revenue/period.ts";

/** A compiled statement. */
export interface Statement {
  /** With `?` for each binding. */
  readonly sql: string;
  /** The parameter of each `?`, in order. */
  readonly parameters: readonly string[];
}

export const STATEMENTS = {
  fullOverview,
  uncoveredOverview,
  fullBreakdown,
  uncoveredBreakdown,
  dailyOfMonth,
  dailyOfMaximum,
  zonedDailyOfMonth,
  zonedDailyOfMaximum,
  payoutsOfDefault,
  payoutsOfMaximum,
} as const satisfies Record<string, Statement>;

export type StatementName = keyof typeof STATEMENTS;

export const STATEMENT_NAMES = Object.keys(STATEMENTS) as StatementName[];

/** Parameter values by parameter name. */
export type Values = Readonly<Record<string, string>>;

/**
 * The bindings of a statement's `?`, in order. Months are those around this host's clock. Throws if a
 * parameter has no value.
 */
export function bindingsOf({ parameters }: Statement, values: Values): string[] {
  const now = Date.now();
  const zone = parameters.includes("leaf") ? "Asia/Kolkata" : "UTC";
  const days = daysOf(periodOf(values), now, zone);
  const list = listDays(days.from, days.to, zone);
  const all: Values = {
    ...monthParameters(startsOfMonths(now)),
    ...questionFor(periodOf(values), { ...days, from: 0 }, list, zone).values,
    // The first page of payouts.
    ...{ upTo: LAST_INSTANT, ...BEFORE_FIRST },
    ...values,
  };
  return parameters.map((parameter) => {
    const value = all[parameter];
    if (value === undefined) throw new Error(`no value for :${parameter}`);
    return value;
  });
}

/** The period of `:start` and `:end`, which are "" for the defaults. */
function periodOf({ start, end }: Values): RequestedPeriod {
  const instantAt = (text?: string) => (text ? fromDatetime(text) : undefined);
  return { start: instantAt(start), end: end === LAST_INSTANT ? undefined : instantAt(end) };
}

/**
 * The parameters that an uncovered query takes from the cache: the rollup's watermark, and the
 * boundaries of the period in `values`.
 */
export async function cachedValues(read: Read, values: Values): Promise<Values> {
  const { provider = "", start = "", end = LAST_INSTANT } = values;
  const { signal } = new AbortController();
  const { rows } = await fullBreakdown.run(read, { provider, start, end }, { signal });
  const [{ watermark }] = rows.state as [(typeof rows.state)[number]];
  const [first, last] = readBoundaries(rows, periodOf(values));
  return { watermark, first: first.at, last: last.at };
}

/** A `Read` that records the statements it runs. */
export interface RecordingRead {
  readonly read: Read;
  /** Returns the names of the statements that ran since the previous call. */
  takeNames(): StatementName[];
}

/** Wraps a `Read` so that it records the statements it runs. It throws on any other statement. */
export function recordStatements(read: Read): RecordingRead {
  let names: StatementName[] = [];
  return {
    read: (sql, ...rest) => {
      const name = STATEMENT_NAMES.find((name) => STATEMENTS[name].sql === sql);
      if (name === undefined) throw new Error(`not a statement of the service: ${sql}`);
      names.push(name);
      return read(sql, ...rest);
    },
    takeNames() {
      const taken = names;
      names = [];
      return taken;
    },
  };
}
