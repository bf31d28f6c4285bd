/**
 * The SQL of GetOverview, as one statement each: the full query, and the query that completes
 * cached totals.
 */
import { compileStatement } from "../../db/statement.ts";
import { chargeCovered } from "../../rollup/coverage.ts";
import {
  ALL_TIME,
  FROM_CACHE,
  FROM_TABLES,
  MONTHS,
  type RollupTerms,
  STATE,
  totalsAt,
} from "../../rollup/read/sql.ts";

const uncovered = ({ watermark, guard }: RollupTerms) => ({
  /**
   * The rollup's state, and the gross of the covered charges dated after now, but in the current
   * month: the month's total includes them.
   */
  state: {
    select: {
      ...STATE.select,
      future: `COALESCE((SELECT SUM(gross) FROM charges
        WHERE provider_id = :provider AND charged_at > :now AND charged_at < :nextMonth
          AND ${chargeCovered(watermark)}), 0.00)`,
    },
    from: STATE.from,
  },
  /** The wallet's balance; no row without a wallet. */
  balance: {
    select: { balance: "available_balance" },
    from: "wallets WHERE provider_id = :provider",
  },
  /** Every server, including deleted ones. */
  servers: {
    select: {
      id: "id",
      uuid: "uuid",
      name: "name",
      price: "price_per_hour",
      deleted: "deleted_at IS NOT NULL",
    },
    from: "servers WHERE provider_id = :provider",
  },
  /**
   * The uncovered charges per server and month: their number, their gross, and the gross of those
   * that are not dated after now.
   */
  charges: {
    select: {
      server: "server_id",
      // The same for all rows of a group, which ONLY_FULL_GROUP_BY does not see.
      month: "MAX(EXTRACT(YEAR_MONTH FROM charged_at))",
      charges: "COUNT(*)",
      gross: "SUM(gross)",
      grossUntilNow: "SUM(CASE WHEN charged_at <= :now THEN gross ELSE 0.00 END)",
    },
    from: `charges WHERE provider_id = :provider AND recorded_at > ${watermark}${guard}
           GROUP BY server_id, EXTRACT(YEAR_MONTH FROM charged_at)`,
  },
  /** The 10 latest payouts. */
  payouts: {
    select: {
      id: "public_id",
      paidAt: "paid_at",
      amount: "amount",
      method: "method",
      status: "status",
    },
    from: "payouts WHERE provider_id = :provider ORDER BY paid_at DESC, id DESC LIMIT 10",
  },
});

/** The full query: the totals of the rollup, and everything to add to them or take off. */
export const fullOverview = compileStatement(
  {
    ...uncovered(FROM_TABLES),
    /** Covered gross per calendar month, from `:firstMonth` on. */
    grossByMonth: {
      select: { month: "month", gross: "gross" },
      from: `${MONTHS} AND month >= EXTRACT(YEAR_MONTH FROM :firstMonth)`,
    },
    /** Covered lifetime gross per server that has a charge. */
    grossByServer: {
      select: { server: "server_id", gross: "SUM(gross)" },
      from: `${totalsAt(ALL_TIME)} AND charges > 0 GROUP BY server_id`,
    },
  },
  ["provider", "firstMonth", "nextMonth", "now"],
  "overview",
);

/** The query that completes cached totals. */
export const uncoveredOverview = compileStatement(
  uncovered(FROM_CACHE),
  ["provider", "rollup", "watermark", "nextMonth", "now"],
  "overview_uncovered",
);
