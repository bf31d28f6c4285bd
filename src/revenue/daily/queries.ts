/**
 * The SQL of GetDailyRevenue: a statement that completes the sums of a rollup, and one that reads the ledger alone.
 * From the first start of a day in the period to the last one, what is covered comes from the rollup: days in UTC from
 * its days, others from the six hours of these, from the hours of those in which a day begins, and from the quarter hours
 * of an hour in which one does; with the charges that it does not cover. Before and after, all charges are read.
 */
import { instant, milliseconds } from "../../db/sql-time.ts";
import type { Queries } from "../../db/statement.ts";
import { CHARGES } from "../../rollup/coverage.ts";
import { STORED_QUARTERS } from "../../rollup/increments.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { increments, totalAt } from "../../rollup/read/stored.ts";
import { CHARGE_SUMS, STORED_CHARGE_SUMS, TOTAL_CHARGE_SUMS } from "../../rollup/sums.ts";
import { compileQuestion } from "../question-statements.ts";
import { WALLET } from "../wallet.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;
/**
 * The times of day (UTC) at which the days of a period may begin: so many in `MAX_DAYS` days of any zone at most.
 * Summer time takes two.
 */
const MAX_TIMES = 4;

/** The parameters that are times of day at which days begin, in seconds from midnight, in their order. */
export const TIMES = Array.from({ length: MAX_TIMES }, (_, nth) => `time${nth}`);

const SECONDS = TIMES.map((time) => milliseconds(`:${time}`));
/** SQL: how many of these times have come at an instant. Its date and this number tell its day, in any zone. */
const timesBefore = (column: string) => `INTERVAL(TIME_TO_SEC(${column}), ${SECONDS.join(", ")})`;

/** Sums the charges that match an SQL condition, none of them of two days, in any zone. */
const sumCharges = (condition: string) => ({
  select: { at: "MIN(charged_at)", ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition}
    GROUP BY DATE(charged_at), ${timesBefore("charged_at")} ORDER BY NULL`,
});

const [START, AFTER] = [instant(":start"), instant(":after")];
const [FIRST, LAST, WATERMARK] = [instant(":first"), instant(":last"), instant(":watermark")];

/** The days in UTC that hold the days which are read. */
const IN_DAYS = `at >= ${instant(":from")} AND at < ${instant(":to")}`;

/** The sums of the rollup. */
const STORED = {
  /** Everything covered, and the same as all days; no row if nothing is. */
  total: { select: STORED_CHARGE_SUMS, from: totalAt(":boundary") },
  allDays: { select: TOTAL_CHARGE_SUMS, from: `${increments("day")} GROUP BY provider_id` },
  days: {
    select: { at: "at", ...STORED_CHARGE_SUMS },
    from: `${increments("day")} AND ${IN_DAYS}`,
  },
};
/** SQL: the numbers of those stretches of a day, of a length in seconds, within which a day of the zone begins. */
const cut = (length: number) =>
  SECONDS.map((at) => `NULLIF(${at} DIV ${length}, ${at} / ${length})`);
const [HOUR, SIX_HOURS] = [3_600, 21_600];
const CUT_HOURS = cut(HOUR);
const WITH_QUARTERS = { ...STORED.days.select, ...STORED_QUARTERS };
/** What days that do not begin at midnight UTC are made of. */
const STORED_OF_ZONES = {
  ...STORED,
  days: { ...STORED.days, select: WITH_QUARTERS },
  /** The hours of the six hours in which a day begins: those that begin before it, and those from it on. */
  hours: {
    select: { at: "MIN(at)", ...TOTAL_CHARGE_SUMS },
    from: `${increments("hour")} AND part IN (${cut(SIX_HOURS).join(", ")}) AND ${IN_DAYS}
      GROUP BY DATE(at), ${timesBefore("at")} ORDER BY NULL`,
  },
  /** The hours within which a day begins, with their quarter hours. */
  cutHours: {
    select: WITH_QUARTERS,
    from: `${increments("hour")} AND part IN (${CUT_HOURS.map((hour) => `${hour} DIV 6`).join(", ")})
      AND ${IN_DAYS} AND HOUR(at) IN (${CUT_HOURS.join(", ")})`,
  },
};

/** The statements of days, whose sums are of days in UTC or of others. */
const dailyOf = <Stored extends Queries>(stored: Stored) =>
  compileQuestion(
    {
      raw: {
        confirmed: WALLET,
        uncovered: sumCharges(`charged_at >= ${START} AND charged_at < ${AFTER}`),
      },
      completing: {
        confirmed: CONFIRMED,
        head: sumCharges(`charged_at >= ${START} AND charged_at < ${FIRST}`),
        tail: sumCharges(`charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
        uncovered: sumCharges(
          `${CHARGES.late(WATERMARK)} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
        ),
      },
      stored,
      others: {},
    },
    "daily",
  );

export const utcDaily = dailyOf({ ...STORED, hours: undefined, cutHours: undefined });
export const zonedDaily = dailyOf(STORED_OF_ZONES);
