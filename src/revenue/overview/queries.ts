/**
 * The SQL of GetOverview, as one statement each: the full query, and the query that completes cached sums.
 */
import { toBoundary } from "../../db/datetime.ts";
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
import {
  CHARGE_COLUMNS,
  CHARGE_SUMS,
  STORED_CHARGE_SUMS,
  TOTAL_CHARGE_SUMS,
} from "../../rollup/sums.ts";
import { MONTH_STARTS } from "../calendar.ts";

/** Every server, including deleted ones. */
const SERVER = {
  id: "id",
  uuid: "uuid",
  name: "name",
  price: "price_per_hour",
  deleted: "deleted_at IS NOT NULL",
};

/** A payout. */
export const PAYOUT = {
  id: "public_id",
  paidAt: "paid_at",
  amount: "amount",
  method: "method",
  status: "status",
  order: "id",
};
/** The order of payouts, which is that of their clustered key. */
export const LATEST_FIRST = "ORDER BY paid_at DESC, id DESC";

/** The parameters of the starts of months, oldest first. */
const STARTS = Array.from({ length: MONTH_STARTS }, (_, nth) => `month${nth}`);
const [OLDEST, ...ENDS] = STARTS.map((start) => instant(`:${start}`));

/** Charges: their sums per server and month, and an instant in the month. */
const CHARGES = { server: "server_id", at: "MAX(charged_at)", ...CHARGE_SUMS };
/**
 * The charges that match an SQL condition, with their month. Not by the parameters: a CASE of thirteen would
 * cost an overview from the cache a tenth to a fifth more, for rows that it mostly does not have. vtgate can
 * group by a column of a derived table, not by an expression. It may also move the condition out of that
 * table, so this has its columns. A day 0 is in the month before (`instantOf`).
 */
const chargesByMonth = (condition: string) =>
  `(SELECT server_id, ${CHARGE_COLUMNS}, EXTRACT(YEAR_MONTH FROM charged_at) - (DAY(charged_at) = 0) AS month
    FROM charges WHERE provider_id = :provider AND ${condition}) AS charge GROUP BY server_id, month`;

/** All but the sums of the rollup. `watermark` is an SQL expression. */
const allButSums = (watermark: string) => {
  const sumCharges = (condition: string) => ({ select: CHARGES, from: chargesByMonth(condition) });
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
    payouts: {
      select: PAYOUT,
      from: `payouts WHERE provider_id = :provider ${LATEST_FIRST} LIMIT 10`,
    },
  };
};

/** The full query: the sums of the rollup, and everything to add to them. */
export const fullOverview = compileStatement(
  {
    ...allButSums(WATERMARK),
    /** The sums at the start of the oldest month; no row if nothing is dated before it. */
    before: {
      select: STORED_CHARGE_SUMS,
      from: `${TOTAL_SUMS} AND at <= ${OLDEST} ORDER BY at DESC LIMIT 1`,
    },
    /** The sums at the end of each month that has charges. */
    sums: {
      select: { at: "at", ...STORED_CHARGE_SUMS },
      from: `${TOTAL_SUMS} AND at IN (${ENDS.join(", ")})`,
    },
    /** Everything covered, per server that has a charge. */
    sumsByServer: {
      select: { server: "server_id", ...TOTAL_CHARGE_SUMS },
      from: `${OWNER_SUMS} AND at = ${LATEST_BOUNDARY} AND charges > 0 GROUP BY server_id`,
    },
  },
  ["provider", ...STARTS],
  "overview",
);

/** The query that completes cached sums. */
export const uncoveredOverview = compileStatement(
  allButSums(CACHED_WATERMARK),
  ["provider", "watermark"],
  "overview_uncovered",
);

/** The parameters of the full query that are starts of months (epoch ms), oldest first. */
export function monthParameters(starts: readonly number[]): Readonly<Record<string, string>> {
  return Object.fromEntries(starts.map((start, nth) => [`month${nth}`, toBoundary(start)]));
}
