/**
 * The SQL of GetOverview, as one statement each: the full query, and the query that completes cached sums.
 */
import { compileStatement } from "../../db/statement.ts";
import {
  CACHED_WATERMARK,
  instant,
  LATEST_BOUNDARY,
  NOW,
  OWNER_SUMS,
  STATE,
  TOTAL_SUMS,
  WATERMARK,
} from "../../rollup/read/sql.ts";
import { MONTHS } from "../calendar.ts";

/** Every server, including deleted ones. */
const SERVER = {
  id: "id",
  uuid: "uuid",
  name: "name",
  price: "price_per_hour",
  deleted: "deleted_at IS NOT NULL",
};

/** One of the 10 latest payouts. */
const PAYOUT = {
  id: "public_id",
  paidAt: "paid_at",
  amount: "amount",
  method: "method",
  status: "status",
  order: "id",
};
const LATEST = "ORDER BY paid_at DESC, id DESC LIMIT 10";

/** Charges: their number and their gross, per server and month. */
const CHARGES = {
  server: "server_id",
  // The same for all rows of a group, which ONLY_FULL_GROUP_BY does not see.
  month: "MAX(EXTRACT(YEAR_MONTH FROM charged_at))",
  charges: "COUNT(*)",
  gross: "SUM(gross)",
};
const BY_SERVER_AND_MONTH = "server_id, EXTRACT(YEAR_MONTH FROM charged_at)";

/** All but the sums of the rollup. `watermark` is an SQL expression. */
const allButSums = (watermark: string) => {
  const sumCharges = (condition: string) => ({
    select: CHARGES,
    from: `charges WHERE provider_id = :provider AND ${condition} GROUP BY ${BY_SERVER_AND_MONTH}`,
  });
  return {
    state: {
      // As columns of the one row, they cost less than as queries of their own.
      select: {
        ...STATE.select,
        /** The wallet's balance; NULL without a wallet. */
        balance: "(SELECT available_balance FROM wallets WHERE provider_id = :provider)",
      },
      from: STATE.from,
    },
    servers: { select: SERVER, from: "servers WHERE provider_id = :provider" },
    /** The charges that the sums do not hold: dated up to the watermark, and recorded after it. */
    late: sumCharges(`recorded_at > ${watermark} AND charged_at <= ${watermark}`),
    /** The charges that are dated after the watermark, and not after now. */
    recent: sumCharges(`charged_at > ${watermark} AND charged_at <= ${NOW}`),
    payouts: { select: PAYOUT, from: `payouts WHERE provider_id = :provider ${LATEST}` },
  };
};

/** The covered gross of everything that is dated before the month that was `ago` months before now. */
const grossBefore = (ago: number) =>
  `(SELECT gross FROM ${TOTAL_SUMS}
    AND at <= ${instant(`DATE_FORMAT(${NOW} - INTERVAL ${ago} MONTH, '%Y-%m-01')`)}
    ORDER BY at DESC LIMIT 1)`;
const GROSS = `(SELECT gross FROM ${TOTAL_SUMS} ORDER BY at DESC LIMIT 1)`;

/** The full query: the sums of the rollup, and everything to add to them. */
export const fullOverview = compileStatement(
  {
    ...allButSums(WATERMARK),
    /** Covered gross: of everything, and of what is dated before each month, most recent first. */
    grossBefore: {
      select: {
        amounts: `CONCAT_WS(' ', ${[GROSS, ...Array.from({ length: MONTHS }, (_, ago) => grossBefore(ago))].map((gross) => `COALESCE(${gross}, 0.00)`).join(", ")})`,
      },
      from: "DUAL",
    },
    /** Covered lifetime gross per server that has a charge. */
    grossByServer: {
      select: { server: "server_id", gross: "SUM(gross)" },
      from: `${OWNER_SUMS} AND at = ${LATEST_BOUNDARY} AND charges > 0 GROUP BY server_id`,
    },
  },
  ["provider"],
  "overview",
);

/** The query that completes cached sums. */
export const uncoveredOverview = compileStatement(
  allButSums(CACHED_WATERMARK),
  ["provider", "watermark"],
  "overview_uncovered",
);
