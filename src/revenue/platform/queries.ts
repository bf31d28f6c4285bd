/**
 * The SQL of ListProviderRevenue: the list of providers, which is on all shards, and for each of them a statement on
 * its own rows, as a whole: one that completes the sums of a rollup, and one that reads the ledger alone.
 */
import { instant } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { idOf, MAX_SIZE } from "../pages.ts";
import { AS_WHOLE, periodQueries } from "../period-sums.ts";
import { compileQuestion } from "../question-statements.ts";
import { CONFIRMED_WITH_WALLET, WALLET } from "../wallet.ts";

/**
 * The providers after one, as many as a page may have, and one more that tells whether there is another page. Without
 * any it has one row, of an empty id: each row tells the instant. vtgate refuses a UNION of it with what is on no shard.
 */
export const providersAfter = compileStatement(
  {
    providers: {
      select: { id: "page.id", name: "page.name" },
      from: `(SELECT 1 AS one) AS single LEFT JOIN (
    SELECT id, name FROM providers WHERE id > ${idOf(":after")} ORDER BY id LIMIT ${MAX_SIZE + 1}
  ) AS page ON one = 1`,
    },
  },
  "providers",
);

/** The status of payouts that have been made. A view may have a collation that does not tell "completed" from it. */
const COMPLETED = "CAST(CAST(status AS CHAR) AS BINARY) = 'Completed'";
const amountIf = (condition: string) => `SUM(CASE WHEN ${condition} THEN amount ELSE 0.00 END)`;

/** The payouts of the period, up to now; no row without any. */
const PAYOUTS = {
  select: { completed: amountIf(COMPLETED), other: amountIf(`NOT ${COMPLETED}`) },
  from: `payouts WHERE provider_id = :provider
    AND paid_at >= ${instant(":start")} AND paid_at < ${instant(":after")} GROUP BY provider_id`,
};

const { raw, completing, stored } = periodQueries(AS_WHOLE);

/** The statements of what one provider earned. */
export const earnedStatements = compileQuestion(
  {
    raw: { confirmed: WALLET, ...raw },
    completing: { confirmed: CONFIRMED_WITH_WALLET, ...completing },
    stored,
    others: { payouts: PAYOUTS },
  },
  "provider_revenue",
);
