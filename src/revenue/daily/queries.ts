/**
 * The SQL of GetDailyRevenue: a statement that completes the sums of a rollup, and one that reads the ledger alone.
 * From the first start of a day in the period to the last one, what is covered comes from the rollup: days in UTC from
 * its days, others from the six hours of these, from the hours of those in which a day begins, and from the quarter hours
 * of an hour in which one does; with the charges that it does not cover. Before and after, all charges are read.
 */
import { instant, milliseconds } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { CHARGES } from "../../rollup/coverage.ts";
import { STORED_QUARTERS } from "../../rollup/increments.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { increments, totalAt } from "../../rollup/read/stored.ts";
import { CHARGE_SUMS, STORED_CHARGE_SUMS, TOTAL_CHARGE_SUMS } from "../../rollup/sums.ts";
import { WALLET } from "../wallet.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;
/**
 * The times of day (UTC) at which the days of a period may begin: so many in `MAX_DAYS` days of any zone at most.
 * Summer time takes two.
 */
export const MAX_TIMES = 4;

/** The parameters that are times of day at which days begin, in seconds from midnight. */
export const TIMES = Array.from({ length: MAX_TIMES }, (_, nth) => `time${nth}`);
/** Those that are the six hours of a day, by their number, which such a time lies in. */
export const PARTS = Array.from({ length: MAX_TIMES }, (_, nth) => `part${nth}`);
/** Those that are the hours of a day, by their number, which such a time lies in. */
export const HOURS = Array.from({ length: MAX_TIMES }, (_, nth) => `hour${nth}`);

/**
 * The times of day of a statement: for days that begin at midnight UTC, for those that begin at another time, and for
 * those that begin at several. Each costs an expression for each row.
 */
const TIMES_OF = { utc: [], fixed: TIMES.slice(0, 1), zoned: TIMES } as const;

/** Which days a statement is for. */
export type Days = keyof typeof TIMES_OF;

/**
 * SQL expressions, of which all are the same for charges of one day, and not for those of two. A date that does not
 * exist is the same for all times of day.
 */
const datesOf = (days: Days) => [
  "DATE(charged_at)",
  ...TIMES_OF[days].map((time) => `DATE(charged_at - INTERVAL :${time} SECOND)`),
];

/** Sums the charges that match an SQL condition, by date. */
const sumCharges = (days: Days, condition: string) => ({
  select: { at: "MIN(charged_at)", ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition}
    GROUP BY ${datesOf(days).join(", ")} ORDER BY NULL`,
});

const [START, AFTER] = [instant(":start"), instant(":after")];
const [FIRST, LAST, WATERMARK] = [instant(":first"), instant(":last"), instant(":watermark")];

/** The days in UTC that hold the days which are read. */
const IN_DAYS = `at >= ${instant(":from")} AND at < ${instant(":to")}`;

/** The sums of the rollup. */
const STORED = {
  /** Everything covered, and the same as all days; no row if nothing is. */
  total: { select: STORED_CHARGE_SUMS, from: totalAt(":mark") },
  allDays: { select: TOTAL_CHARGE_SUMS, from: `${increments("day")} GROUP BY provider_id` },
  days: {
    select: { at: "at", ...STORED_CHARGE_SUMS },
    from: `${increments("day")} AND ${IN_DAYS}`,
  },
};
const STORED_OF_ZONES = {
  ...STORED,
  days: { ...STORED.days, select: { ...STORED.days.select, ...STORED_QUARTERS } },
};
/** The hours of the six hours in which a day of the zone begins: those that begin before it, and those from it on. */
const hoursOf = (days: Days) => {
  const times = TIMES_OF[days].map((time) => `(TIME_TO_SEC(at) >= ${milliseconds(`:${time}`)})`);
  const parts = TIMES_OF[days].map((_, nth) => milliseconds(`:${PARTS[nth]}`));
  return {
    select: { at: "MIN(at)", ...TOTAL_CHARGE_SUMS },
    from: `${increments("hour")} AND part IN (${parts.join(", ")}) AND ${IN_DAYS}
      GROUP BY (TO_DAYS(at) * 4 + part) * ${times.length + 1} + ${times.join(" + ")} ORDER BY NULL`,
  };
};
/** The hours within which a day of the zone begins, with their quarter hours. */
const cutHoursOf = (days: Days) => {
  const hours = TIMES_OF[days].map((_, nth) => milliseconds(`:${HOURS[nth]}`));
  const parts = hours.map((hour) => `${hour} DIV 6`);
  return {
    select: STORED_OF_ZONES.days.select,
    from: `${increments("hour")} AND part IN (${parts.join(", ")}) AND ${IN_DAYS}
      AND HOUR(at) IN (${hours.join(", ")})`,
  };
};

/** The statement that completes the sums of a rollup, and may read them, too. */
function dailyOf(days: Days, stored: Partial<typeof STORED | typeof STORED_OF_ZONES>) {
  return compileStatement(
    {
      confirmed: CONFIRMED,
      head: sumCharges(days, `charged_at >= ${START} AND charged_at < ${FIRST}`),
      tail: sumCharges(days, `charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
      uncovered: sumCharges(
        days,
        `${CHARGES.late(WATERMARK)} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
      ),
      total: stored.total,
      allDays: stored.allDays,
      days: stored.days,
      hours: days !== "utc" && stored.days ? hoursOf(days) : undefined,
      cutHours: days !== "utc" && stored.days ? cutHoursOf(days) : undefined,
    },
    [
      ...["provider", "start", "after", "watermark", "slot", "mark"],
      ...["first", "last", "from", "to", "tailFrom"],
      ...TIMES,
      ...PARTS,
      ...HOURS,
    ],
    "daily",
  );
}

/** A statement for each kind of days. */
function eachOf<T>(statementFor: (days: Days) => T): Readonly<Record<Days, T>> {
  return {
    utc: statementFor("utc"),
    fixed: statementFor("fixed"),
    zoned: statementFor("zoned"),
  };
}

/** The statements that read the sums, and that have them from the cache. */
export const fullDaily = eachOf((days) => dailyOf(days, days === "utc" ? STORED : STORED_OF_ZONES));
export const cachedDaily = eachOf((days) => dailyOf(days, {}));

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
export const RAW = eachOf(rawDaily);
