/**
 * What GetOverview asks of the database, each time in one statement: the whole, or what is
 * left to ask where the rollup's part is remembered.
 */
import { compileStatement } from "../../db/statement.ts";
import {
  ALL_TIME,
  AS_CACHED,
  AS_FOUND,
  figuresAt,
  MONTHS,
  type RollupTerms,
  STATE,
} from "../../rollup/read/sql.ts";

/** What no rollup holds. */
const uncovered = ({ watermark }: RollupTerms) => ({
  /** The wallet, "" without one, and the rollup's state: always one row. */
  singles: {
    select: {
      ...STATE,
      balance: "(SELECT available_balance FROM wallets WHERE provider_id = :provider)",
    },
    from: "DUAL",
  },
  /** Every server, deleted or not. */
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
  /** What was recorded after the watermark, per server and month; `due` is what is not dated after now. */
  recent: {
    select: { server: "server_id", month: "month", gross: "gross", due: "due" },
    from: `(SELECT server_id, EXTRACT(YEAR_MONTH FROM charged_at) AS month, SUM(gross) AS gross,
                   SUM(CASE WHEN charged_at <= :now THEN gross ELSE 0.00 END) AS due
            FROM charges
            WHERE provider_id = :provider AND recorded_at > ${watermark}
            GROUP BY server_id, month) AS recent`,
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

/** All of it. */
export const fullOverview = compileStatement(
  {
    ...uncovered(AS_FOUND),
    /** Gross per calendar month since the first of the months shown. */
    months: {
      select: { month: "month", gross: "gross" },
      from: `${MONTHS} AND month >= EXTRACT(YEAR_MONTH FROM :firstMonth)`,
    },
    /** To be taken off the current month: what is dated in it, but after now. */
    upcoming: {
      select: { gross: "COALESCE(SUM(gross), 0.00)", charges: "COUNT(*)" },
      from: `charges
             WHERE provider_id = :provider AND charged_at > :now AND charged_at < :nextMonth
               AND recorded_at <= ${AS_FOUND.watermark}`,
    },
    /** Lifetime gross per server that has a charge. */
    lifetimes: {
      select: { server: "server_id", gross: "SUM(gross)" },
      from: `${figuresAt(ALL_TIME)} AND charges > 0 GROUP BY server_id`,
    },
  },
  ["provider", "firstMonth", "nextMonth", "now"],
);

/** What is left where the rollup's part is remembered. */
export const uncoveredOverview = compileStatement(uncovered(AS_CACHED), [
  "provider",
  "watermark",
  "now",
]);
