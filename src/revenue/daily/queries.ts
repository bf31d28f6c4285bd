/**
 * The SQL of GetDailyRevenue: a statement that completes the sums of a rollup, and one that reads the ledger alone.
 * From the first start of a day in the period to the last one, what is covered comes from the rollup: days in UTC from
 * its days, others from its six hours, and from the quarter hours of those in which a day begins; with the charges that
 * it does not cover. Before and after, all charges are read.
 */
import { instant, milliseconds } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
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
/**
 * The six hours in which a day of the zone begins, those between them, and those from a time on at which a day begins
 * together with six hours, added up.
 */
const sixHoursOf = (days: Days) => {
  const parts = TIMES_OF[days].flatMap((time, nth) => [
    `(HOUR(at) DIV 6 >= ${milliseconds(`:${PARTS[nth]}`)})`,
    `(TIME_TO_SEC(at) >= ${milliseconds(`:${time}`)})`,
  ]);
  return {
    select: { at: "MIN(at)", ...TOTAL_CHARGE_SUMS },
    from: `${increments("sixHours")} AND ${IN_DAYS}
      GROUP BY TO_DAYS(at) * ${parts.length + 1} + ${parts.join(" + ")} ORDER BY NULL`,
  };
};
/** The quarter hours of the six hours in which a day of the zone begins: those before it, and those from it on. */
const quartersOf = (days: Days) => {
  const times = TIMES_OF[days].map((time) => `(TIME_TO_SEC(at) >= ${milliseconds(`:${time}`)})`);
  const parts = TIMES_OF[days].map((_, nth) => milliseconds(`:${PARTS[nth]}`));
  return {
    select: { at: "MIN(at)", ...TOTAL_CHARGE_SUMS },
    from: `${increments("quarter")} AND part IN (${parts.join(", ")}) AND ${IN_DAYS}
      GROUP BY (TO_DAYS(at) * 4 + part) * ${times.length + 1} + ${times.join(" + ")} ORDER BY NULL`,
  };
};

/** The statement that completes the sums of a rollup, and may read them, too. */
function dailyOf(days: Days, stored: Partial<typeof STORED>) {
  return compileStatement(
    {
      confirmed: CONFIRMED,
      head: sumCharges(days, `charged_at >= ${START} AND charged_at < ${FIRST}`),
      tail: sumCharges(days, `charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
      uncovered: sumCharges(
        days,
        `recorded_at > ${WATERMARK} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
      ),
      total: stored.total,
      allDays: stored.allDays,
      days: stored.days,
      sixHours: days !== "utc" && stored.days ? sixHoursOf(days) : undefined,
      quarters: days !== "utc" && stored.days ? quartersOf(days) : undefined,
    },
    [
      ...["provider", "start", "after", "watermark", "slot", "mark"],
      ...["first", "last", "from", "to", "tailFrom"],
      ...TIMES,
      ...PARTS,
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
export const fullDaily = eachOf((days) => dailyOf(days, STORED));
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
