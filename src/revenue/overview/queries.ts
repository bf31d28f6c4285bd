/**
 * The SQL of GetOverview, as one statement each: the full query, and the query that completes cached sums.
 */
import { compileStatement } from "../../db/statement.ts";
import {
  FROM_CACHE,
  FROM_TABLES,
  instant,
  LATEST_BOUNDARY,
  NOW,
  OWNER_SUMS,
  type RollupTerms,
  STATE,
  TOTAL_SUMS,
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

/** SQL conditions for the charges that the sums do not hold. */
const conditionsFor = ({ watermark, guard }: RollupTerms) => ({
  /** Those that are dated up to the watermark, but were recorded after it. */
  late: `recorded_at > ${watermark} AND charged_at <= ${watermark}${guard}`,
  /** Those that are dated after it, and not after now. */
  recent: `charged_at > ${watermark} AND charged_at <= ${NOW}${guard}`,
});

const uncovered = (terms: RollupTerms) => {
  const { late, recent } = conditionsFor(terms);
  const sumCharges = (condition: string) => ({
    select: CHARGES,
    from: `charges WHERE provider_id = :provider AND ${condition} GROUP BY ${BY_SERVER_AND_MONTH}`,
  });
  return {
    state: STATE,
    /** The wallet's balance; no row without a wallet. */
    balance: {
      select: { balance: "available_balance" },
      from: "wallets WHERE provider_id = :provider",
    },
    servers: { select: SERVER, from: "servers WHERE provider_id = :provider" },
    late: sumCharges(late),
    recent: sumCharges(recent),
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
    ...uncovered(FROM_TABLES),
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
  uncovered(FROM_CACHE),
  ["provider", "version", "watermark"],
  "overview_uncovered",
);
