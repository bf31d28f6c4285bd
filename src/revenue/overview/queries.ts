/**
 * The SQL of GetOverview, as one statement each: the full query, the query that completes cached
 * totals, and the query that completes those of several providers.
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
  STATE_COLUMNS,
  totalsAt,
} from "../../rollup/read/sql.ts";
import { TABLES } from "../../rollup/tables.ts";

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
};
const LATEST = "ORDER BY paid_at DESC, id DESC LIMIT 10";

/**
 * The uncovered charges per server and month: their number, their gross, and the gross of those
 * that are not dated after now.
 */
const uncoveredCharges = (untilNow: string) => ({
  server: "server_id",
  // The same for all rows of a group, which ONLY_FULL_GROUP_BY does not see.
  month: "MAX(EXTRACT(YEAR_MONTH FROM charged_at))",
  charges: "COUNT(*)",
  gross: "SUM(gross)",
  grossUntilNow: `SUM(CASE WHEN ${untilNow} THEN gross ELSE 0.00 END)`,
});
/** Of charges: their number and their gross, as one text, so that one subquery reads both. */
const NUMBER_AND_GROSS = "CONCAT(COUNT(*), ' ', COALESCE(SUM(gross), 0.00))";
const BY_SERVER_AND_MONTH = "server_id, EXTRACT(YEAR_MONTH FROM charged_at)";

const uncovered = ({ watermark, guard }: RollupTerms) => ({
  /**
   * The rollup's state, and the number and the gross of the covered charges dated after now, but in
   * the current month: the month's total includes them.
   */
  state: {
    select: {
      ...STATE.select,
      future: `(SELECT ${NUMBER_AND_GROSS} FROM charges
        WHERE provider_id = :provider AND charged_at > :now AND charged_at < :nextMonth
          AND ${chargeCovered(watermark)})`,
    },
    from: STATE.from,
  },
  /** The wallet's balance; no row without a wallet. */
  balance: {
    select: { balance: "available_balance" },
    from: "wallets WHERE provider_id = :provider",
  },
  servers: { select: SERVER, from: "servers WHERE provider_id = :provider" },
  charges: {
    select: uncoveredCharges("charged_at <= :now"),
    from: `charges WHERE provider_id = :provider AND recorded_at > ${watermark}${guard}
           GROUP BY ${BY_SERVER_AND_MONTH}`,
  },
  payouts: { select: PAYOUT, from: `payouts WHERE provider_id = :provider ${LATEST}` },
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

/** What a row of a query for several providers begins with. */
const OWNER = { provider: "provider_id" };

/** The parameters of the provider in a place. */
const PARAMETERS = ["provider", "rollup", "watermark", "nextMonth", "now"] as const;

/** The payouts of each provider, as a query of their own: the 10 latest of each. */
type Payouts = Record<`payouts${number}`, { select: typeof OWNER & typeof PAYOUT; from: string }>;

/**
 * The query that completes the cached totals of several different providers: of each, the rows that
 * `uncoveredOverview` reads. It has the parameters of the providers in all places: `:provider0`.
 */
function uncoveredOverviews(size: number) {
  const places = [...Array(size).keys()];
  const atPlace = (sql: string, place: number) => sql.replace(/:([a-z]\w*)/gi, `:$1${place}`);
  /** The rows for which a condition holds for one of the providers. */
  const ofAny = (condition: string) =>
    places
      .map((place) => `(${atPlace(`provider_id = :provider AND ${condition}`, place)})`)
      .join("\n OR ");
  const ofAll = `provider_id IN (${places.map((place) => `:provider${place}`).join(", ")})`;
  const { watermark, guard } = FROM_CACHE;
  const payouts = places.map((place) => [
    `payouts${place}`,
    {
      select: { ...OWNER, ...PAYOUT },
      from: atPlace(`payouts WHERE provider_id = :provider ${LATEST}`, place),
    },
  ]);
  const queries = Object.assign(
    {
      snapshot: { select: {}, from: "DUAL" },
      state: { select: { ...OWNER, ...STATE_COLUMNS }, from: `${TABLES.state} WHERE ${ofAll}` },
      future: {
        select: { ...OWNER, future: NUMBER_AND_GROSS },
        from: `charges WHERE ${ofAny(`charged_at > :now AND charged_at < :nextMonth
                 AND ${chargeCovered(watermark)}`)}
               GROUP BY provider_id`,
      },
      balance: {
        select: { ...OWNER, balance: "available_balance" },
        from: `wallets WHERE ${ofAll}`,
      },
      servers: { select: { ...OWNER, ...SERVER }, from: `servers WHERE ${ofAll}` },
      charges: {
        select: { ...OWNER, ...uncoveredCharges(ofAny("charged_at <= :now")) },
        from: `charges WHERE ${ofAny(`recorded_at > ${watermark}${guard}`)}
               GROUP BY provider_id, ${BY_SERVER_AND_MONTH}`,
      },
    },
    Object.fromEntries(payouts) as Payouts,
  );
  const parameters = places.flatMap((place) => PARAMETERS.map((name) => `${name}${place}`));
  return compileStatement(queries, parameters, "overview_batch");
}

/** The queries that complete the cached totals of 2, 4 and 8 providers. */
export const uncoveredOverviews2 = uncoveredOverviews(2);
export const uncoveredOverviews4 = uncoveredOverviews(4);
export const uncoveredOverviews8 = uncoveredOverviews(8);
