/** The SQL of GetOverview. All places in time are parameters. */
import { instant } from "../../db/sql-time.ts";
import { CHARGES } from "../../rollup/coverage.ts";
import { increments, OWNER_SUMS, sumsAt, totalAt } from "../../rollup/read/stored.ts";
import { byMonth } from "../../rollup/stretches.ts";
import { CHARGE_SUMS, STORED_CHARGE_SUMS, TOTAL_CHARGE_SUMS } from "../../rollup/sums.ts";
import { PAYOUT } from "../payouts/payout.ts";
import { compileQuestion } from "../question-statements.ts";
import { CONFIRMED_WITH_WALLET, WALLET } from "../wallet.ts";

/** The provider's name, NULL without one: a column of the row with the wallet costs less than a query of its own. */
const NAME = "(SELECT name FROM providers WHERE id = :provider)";

const withName = <Columns>({ select, from }: { select: Columns; from: string }) => ({
  select: { ...select, name: NAME },
  from,
});

/** Every server, including deleted ones. */
const SERVERS = {
  select: {
    id: "id",
    uuid: "uuid",
    name: "name",
    price: "price_per_hour",
    deleted: "deleted_at IS NOT NULL",
  },
  from: "servers WHERE provider_id = :provider",
};

const PAYOUTS = {
  select: PAYOUT,
  from: `payouts WHERE provider_id = :provider ORDER BY paid_at DESC, id DESC LIMIT 10`,
};

/**
 * Sums the charges that match an SQL condition by server and month, with an instant in the month.
 */
const sumCharges = (condition: string) => ({
  select: { server: "server_id", at: "MAX(charged_at)", ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition}
    GROUP BY server_id, ${byMonth("charged_at")} ORDER BY NULL`,
});

const [NOW, WATERMARK] = [instant(":now"), instant(":watermark")];

/** The statements of an overview. */
export const overviewStatements = compileQuestion(
  {
    raw: { confirmed: withName(WALLET), recent: sumCharges(`charged_at <= ${NOW}`) },
    completing: {
      confirmed: withName(CONFIRMED_WITH_WALLET),
      /** The charges that the sums do not hold: dated up to the watermark, and recorded after it. */
      late: sumCharges(CHARGES.late(WATERMARK)),
      /** The charges that are dated after the watermark, and not after now. */
      recent: sumCharges(`${CHARGES.after(WATERMARK)} AND charged_at <= ${NOW}`),
    },
    stored: {
      /** Everything covered; no row if nothing is. */
      total: { select: STORED_CHARGE_SUMS, from: totalAt(":boundary") },
      /** The same by month. */
      months: { select: { at: "at", ...STORED_CHARGE_SUMS }, from: increments("month") },
      /** Everything covered, per server that has a charge. */
      sumsByServer: {
        select: { server: "server_id", ...TOTAL_CHARGE_SUMS },
        from: `${sumsAt(OWNER_SUMS, ":boundary")} AND charges > 0 GROUP BY server_id`,
      },
    },
    others: { servers: SERVERS, payouts: PAYOUTS },
  },
  "overview",
);
