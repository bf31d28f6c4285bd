/**
 * The SQL of ListDailyRevenue: one statement. The formulas are those of a breakdown (docs/rollups.md),
 * where a day is a leaf of the provider as a whole: from the first start of a day in the period to the
 * last one, the sums of the rollup, and the charges that it does not cover; before and after, all charges.
 * A rollup whose days have few charges has no sums of days: then all charges of the period are read.
 */
import { compileStatement } from "../../db/statement.ts";
import { chargeCovered } from "../../rollup/coverage.ts";
import { DAY_LEAF, FIRST_INSTANT, LAST_INSTANT } from "../../rollup/leaves.ts";
import { after, instant, STATE, TOTAL_SUMS, WATERMARK } from "../../rollup/read/sql.ts";
import { PERIOD_END, PERIOD_START } from "../period.ts";

/** The maximum number of days that a period may touch: more than a year, in one small response. */
export const MAX_DAYS = 400;

const ENDS = `SELECT ${PERIOD_START} AS start, ${PERIOD_END} AS end, ${WATERMARK} AS watermark,
  (SELECT total_leaf FROM ${STATE.from}) AS leaf`;

/** The first day there is also has what is dated before it, so it is read from the ledger. */
const BOUNDARIES = `SELECT ends.*,
  CASE WHEN TIME(start) = 0 THEN start ELSE ${instant("DATE(start) + INTERVAL 1 DAY")} END AS next_day,
  CASE WHEN COALESCE(leaf, '') <> '${DAY_LEAF}' OR DATE(end) = DATE('${FIRST_INSTANT}') THEN start
    WHEN end >= watermark THEN ${after("watermark")}
    ELSE ${instant("DATE(end + INTERVAL 1000 MICROSECOND)")} END AS last
  FROM (${ENDS}) AS ends`;

/**
 * What the branches refer to, as a table of one row, which the database evaluates before it chooses a
 * plan: the `start` and the `end` of the period, the `watermark`, and the boundaries `first` and `last`
 * of what the sums hold. Without sums of days, both are the start. The table has no row if the period is
 * too long: if an end is left out, only the statement's own instant tells, and the request is refused
 * afterwards.
 */
const PERIOD = `(SELECT boundaries.*, LEAST(last, next_day) AS first
  FROM (${BOUNDARIES}) AS boundaries
  WHERE DATEDIFF(end, GREATEST(start, ${instant(`'${FIRST_INSTANT}'`)})) < ${MAX_DAYS}) AS period`;

/** Sums the charges that match an SQL condition, by day. `uncovered` is how many the rollup lacks. */
const sumCharges = (condition: string) => ({
  select: {
    at: "MIN(charged_at)",
    gross: "SUM(gross)",
    charges: "COUNT(*)",
    uncovered: `SUM(CASE WHEN ${chargeCovered("watermark")} THEN 0 ELSE 1 END)`,
  },
  from: `${PERIOD} JOIN charges WHERE provider_id = :provider AND ${condition}
    GROUP BY DATE(charged_at) ORDER BY NULL`,
});

/** The sums at boundaries that match an SQL condition: of what is covered and dated before each. */
const sumsAt = (condition: string) => ({
  select: { at: "at", gross: "gross", charges: "charges" },
  from: `${PERIOD} JOIN ${TOTAL_SUMS} AND first < last AND ${condition}`,
});

/** The query, with everything that the days of a period are made of. */
export const dailyRevenue = compileStatement(
  {
    state: STATE,
    /** The sums at the first boundary; no row if nothing is dated before it. */
    before: sumsAt("at <= first ORDER BY at DESC LIMIT 1"),
    /** The sums at the end of each day that has charges. The last day may end after the watermark. */
    sums: sumsAt(
      `at > first AND at <= CASE WHEN last > watermark THEN ${instant(`'${LAST_INSTANT}'`)} ELSE last END`,
    ),
    head: sumCharges("charged_at >= start AND charged_at < first"),
    tail: sumCharges("charged_at >= GREATEST(last, start) AND charged_at <= end"),
    uncovered: sumCharges("recorded_at > watermark AND charged_at >= first AND charged_at < last"),
  },
  ["provider", "start", "end"],
  "daily",
);
