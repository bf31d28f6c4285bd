/**
 * The SQL of GetDailyRevenue: a statement that completes the sums of a rollup, and one that reads the ledger alone.
 * A day is the difference of the sums of the provider as a whole at its start and its end. From the first start of
 * a day in the period to the last one it comes from the rollup, with the charges that this does not cover; before
 * and after, all charges are read.
 */
import { toBoundary } from "../../db/datetime.ts";
import { instant } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { sumsAt, TOTAL_SUMS } from "../../rollup/read/stored.ts";
import { CHARGE_SUMS, STORED_CHARGE_SUMS } from "../../rollup/sums.ts";
import { WALLET } from "../wallet.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;
/** The days of the default period: with the parameters of 400, its statement would take half as long again. */
export const MONTH = 32;
/**
 * The times of day (UTC) at which the days of a period may begin: so many in `MAX_DAYS` days of any zone at most.
 * Summer time takes two.
 */
export const MAX_TIMES = 4;

/** The parameters that are the ends of so many days. */
const endNames = (days: number) => Array.from({ length: days }, (_, nth) => `end${nth}`);
/** The parameters that are times of day at which days begin, in seconds from midnight. */
export const TIMES = Array.from({ length: MAX_TIMES }, (_, nth) => `time${nth}`);

const DATE = "DATE(charged_at)";
/**
 * SQL expressions, of which all are the same for charges of one day, and not for those of two: for days that begin
 * at midnight UTC, and for others. A date that does not exist is the same for all times of day.
 */
const DATES = {
  utc: [DATE],
  zoned: [DATE, ...TIMES.map((time) => `DATE(charged_at - INTERVAL :${time} SECOND)`)],
};

/** Which days a statement is for. */
export type Days = keyof typeof DATES;

/** Sums the charges that match an SQL condition, by date. */
const sumCharges = (days: Days, condition: string) => ({
  select: { at: "MIN(charged_at)", ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition}
    GROUP BY ${DATES[days].join(", ")} ORDER BY NULL`,
});

const [START, AFTER] = [instant(":start"), instant(":after")];
const [FIRST, LAST, WATERMARK] = [instant(":first"), instant(":last"), instant(":watermark")];

/** A boundary and its sums. */
const STORED = { at: "at", ...STORED_CHARGE_SUMS };

/**
 * The statement that completes the sums of a rollup.
 *
 * @param ends the number of days whose sums it reads, too, at most
 */
function dailyOf(days: Days, ends: number) {
  const names = endNames(ends);
  const statement = compileStatement(
    {
      confirmed: CONFIRMED,
      head: sumCharges(days, `charged_at >= ${START} AND charged_at < ${FIRST}`),
      tail: sumCharges(days, `charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
      uncovered: sumCharges(
        days,
        `recorded_at > ${WATERMARK} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
      ),
      /** The sums at the first start of a day; no row if nothing is dated before it. */
      before: ends > 0 ? { select: STORED, from: sumsAt(TOTAL_SUMS, ":first") } : undefined,
      /** The sums at the ends of days. */
      sums:
        ends > 0
          ? {
              select: STORED,
              from: `${TOTAL_SUMS} AND at IN (${names.map((name) => instant(`:${name}`)).join(", ")})`,
            }
          : undefined,
    },
    [
      ...["provider", "start", "after", "watermark", "slot", "first", "last", "tailFrom"],
      ...TIMES,
      ...names,
    ],
    "daily",
  );
  return { statement, names };
}

/** The statements, by the number of days whose sums they read at most, in ascending order. */
const SIZES = [0, MONTH, MAX_DAYS];
const COMPLETING = {
  utc: SIZES.map((ends) => dailyOf("utc", ends)),
  zoned: SIZES.map((ends) => dailyOf("zoned", ends)),
};

/** The statement that reads the sums at the ends of some days (epoch ms), too, and these as its parameters. */
export function dailyStatement(kind: Days, days: readonly { readonly end: number }[]) {
  const found = COMPLETING[kind].find(({ names }) => names.length >= days.length);
  if (found === undefined) throw new Error(`expected at most ${MAX_DAYS} days, got ${days.length}`);
  const texts = days.map(({ end }) => toBoundary(end));
  // A place without a day repeats the last one.
  const ends = found.names.map((name, nth) => [name, texts[nth] ?? texts.at(-1) ?? ""]);
  return { statement: found.statement, ends: Object.fromEntries(ends) as Record<string, string> };
}

/** The statements that read the ledger alone. */
const rawDaily = (days: Days) =>
  compileStatement(
    {
      wallet: WALLET,
      charges: sumCharges(days, `charged_at >= ${START} AND charged_at < ${AFTER}`),
    },
    ["provider", "start", "after", ...TIMES],
    "daily_raw",
  );
export const RAW = { utc: rawDaily("utc"), zoned: rawDaily("zoned") };
