/** What GetOverview asks of the database, in one statement. */
import { compileSnapshot } from "../database/snapshot.ts";

export const overviewQuestions = compileSnapshot(
  {
    /** The wallet; no row without one. */
    wallet: {
      select: { balance: "available_balance" },
      from: "wallets WHERE provider_id = :provider",
    },
    /** Gross per calendar month, from the first of the months shown until now. */
    months: {
      select: { month: "month", gross: "gross" },
      from: `(SELECT EXTRACT(YEAR_MONTH FROM charged_at) AS month, SUM(gross) AS gross
              FROM charges
              WHERE provider_id = :provider AND charged_at BETWEEN :firstMonth AND :now
              GROUP BY month) AS months`,
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
    /** Lifetime gross per server. */
    lifetimes: {
      select: { server: "server_id", gross: "SUM(gross)" },
      from: "charges WHERE provider_id = :provider GROUP BY server_id",
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
  },
  ["provider", "firstMonth", "now"],
);
