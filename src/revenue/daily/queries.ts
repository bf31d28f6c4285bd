/**
 * The SQL of GetDailyRevenue: one statement. A day is the difference of the sums of the provider as a whole
 * at its start and its end. From the first start of a day in the period to the last one it comes from the
 * rollup, with the charges that this does not cover; before and after, all charges are read.
 */
import { compileStatement } from "../../db/statement.ts";
import { instant, STATE, TOTAL_SUMS, WATERMARK, watermarkIf } from "../../rollup/read/sql.ts";
import { CHARGE_COLUMNS, CHARGE_SUMS, STORED_CHARGE_SUMS } from "../../rollup/sums.ts";
import { rawCharges, termsOf, upTo } from "../raw-charges.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;
/** The days of the default period: with the parameters of 400, its statement would take half as long again. */
export const MONTH = 32;
/**
 * The times of day (UTC) at which the days of a period may begin: so many in `MAX_DAYS` days of any zone at most.
 * Summer time takes two.
 */
export const MAX_TIMES = 4;

const ENDS = Array.from({ length: MAX_DAYS }, (_, nth) => `end${nth}`);
/** The parameters that are the ends of so many days. */
export const endNames = (days: number): readonly string[] => ENDS.slice(0, days);
/** The parameters that are times of day at which days begin, in seconds from midnight. */
export const TIMES = Array.from({ length: MAX_TIMES }, (_, nth) => `time${nth}`);

/**
 * A statement for so many days.
 *
 * @param watermark of the rollup, if it has the boundaries of the days, as an SQL expression
 * @param dates SQL expressions, of which all are the same for charges of one day, and not for those of two
 * @param more its parameters besides those of all statements
 */
function dailyRevenueOf(
  days: number,
  watermark: string,
  dates: readonly string[],
  more: readonly string[],
) {
  const [firstDay, lastDay] = [instant(":firstDay"), instant(":lastDay")];
  const terms = termsOf(firstDay, lastDay, watermark);
  const keys = dates.map((_, nth) => `date${nth}`);
  /**
   * Sums the charges that match an SQL condition, by date: columns of a derived table, because vtgate may not
   * group by an expression. It may also move the condition out of that table, so this has its columns.
   */
  const sumCharges = (condition: string) => ({
    select: { at: "MIN(charged_at)", ...CHARGE_SUMS },
    from: `(SELECT ${CHARGE_COLUMNS}, ${dates.map((date, nth) => `${date} AS ${keys[nth]}`).join(", ")}
      FROM charges WHERE provider_id = :provider AND ${condition}) AS charge GROUP BY ${keys.join(", ")} ORDER BY NULL`,
  });
  /** The sums at boundaries that match an SQL condition: of what is covered and dated before each. */
  const sumsAt = (condition: string) => ({
    select: { at: "at", ...STORED_CHARGE_SUMS },
    from: `${TOTAL_SUMS} AND ${condition}`,
  });
  return compileStatement(
    {
      state: { select: { ...STATE.select, last: terms.last }, from: STATE.from },
      /** The sums at the first start of a day; no row if nothing is dated before it. */
      before: sumsAt(`at <= ${firstDay} ORDER BY at DESC LIMIT 1`),
      /** The sums at the ends of days up to the last one, or to that of the watermark's day. */
      sums: sumsAt(
        `at IN (${endNames(days).map((end) => instant(`:${end}`))}) AND at <= ${upTo(lastDay, watermark)}
          AND ${watermark} >= ${firstDay}`,
      ),
      ...rawCharges(terms, sumCharges),
    },
    ["provider", "start", "end", "firstDay", "lastDay", ...more, ...endNames(days)],
    "daily",
  );
}

const DATE = "DATE(charged_at)";

/** The statements for days of UTC: for those of a month, and for the maximum. */
const ofUtc = (days: number) => dailyRevenueOf(days, WATERMARK, [DATE], []);
export const dailyOfMonth = ofUtc(MONTH);
export const dailyOfMaximum = ofUtc(MAX_DAYS);

/**
 * The same for days of another zone, which begin at up to `MAX_TIMES` times of day. The rollup is used if it has the
 * boundaries of `:leaf`. A date that does not exist is the same for all times of day.
 */
const ofZone = (days: number) =>
  dailyRevenueOf(
    days,
    watermarkIf("total_leaf = :leaf"),
    [DATE, ...TIMES.map((time) => `DATE(charged_at - INTERVAL :${time} SECOND)`)],
    ["leaf", ...TIMES],
  );
export const zonedDailyOfMonth = ofZone(MONTH);
export const zonedDailyOfMaximum = ofZone(MAX_DAYS);
