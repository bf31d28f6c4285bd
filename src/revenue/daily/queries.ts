/**
 * The SQL of GetDailyRevenue: one statement. A day is the difference of the sums of the provider as a whole
 * at its start and its end. From the first start of a day in the period to the last one it comes from the
 * rollup, with the charges that this does not cover; before and after, all charges are read.
 */
import { compileStatement } from "../../db/statement.ts";
import { instant, STATE, TOTAL_SUMS, WATERMARK } from "../../rollup/read/sql.ts";
import { CHARGE_SUMS, STORED_CHARGE_SUMS } from "../../rollup/sums.ts";
import { rawCharges, termsOf, upTo } from "../raw-charges.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;

const ENDS = Array.from({ length: MAX_DAYS }, (_, nth) => `end${nth}`);
/** The parameters that are the ends of so many days. */
export const endNames = (days: number): readonly string[] => ENDS.slice(0, days);

const terms = termsOf(instant(":firstDay"), instant(":lastDay"));

/**
 * Sums the charges that match an SQL condition, by day: a column of a derived table, because vtgate may not
 * group by an expression. It may also move the condition out of that table, so this has its columns.
 */
const sumCharges = (condition: string) => ({
  select: { at: "MIN(charged_at)", ...CHARGE_SUMS },
  from: `(SELECT charged_at, recorded_at, gross, DATE(charged_at) AS day
    FROM charges WHERE provider_id = :provider AND ${condition}) AS charge GROUP BY day ORDER BY NULL`,
});

/** The sums at boundaries that match an SQL condition: of what is covered and dated before each. */
const sumsAt = (condition: string) => ({
  select: { at: "at", ...STORED_CHARGE_SUMS },
  from: `${TOTAL_SUMS} AND ${condition}`,
});

/** A statement for so many days. */
const dailyRevenueOf = (days: number) =>
  compileStatement(
    {
      state: { select: { ...STATE.select, last: terms.last }, from: STATE.from },
      /** The sums at the first start of a day; no row if nothing is dated before it. */
      before: sumsAt(`at <= ${instant(":firstDay")} ORDER BY at DESC LIMIT 1`),
      /** The sums at the ends of days up to the last one, or to that of the watermark's day. */
      sums: sumsAt(
        `at IN (${endNames(days).map((end) => instant(`:${end}`))}) AND at <= ${upTo(instant(":lastDay"))}
          AND ${WATERMARK} >= ${instant(":firstDay")}`,
      ),
      ...rawCharges(terms, sumCharges),
    },
    ["provider", "start", "end", "firstDay", "lastDay", ...endNames(days)],
    "daily",
  );

/** The days of the default period: with the parameters of 400, its statement would take half as long again. */
export const MONTH = 32;

/** The statements for the days of a month, and for the maximum. */
export const dailyOfMonth = dailyRevenueOf(MONTH);
export const dailyOfMaximum = dailyRevenueOf(MAX_DAYS);
