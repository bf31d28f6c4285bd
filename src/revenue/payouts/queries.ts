/** The SQL of ListPayouts: one statement, which reads a range of the clustered key backwards. */
import { instant } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { WALLET } from "../wallet.ts";
import { LATEST_FIRST, PAYOUT } from "./payout.ts";

/** The time of a payout as text. Its order is that of the times, also of dates that do not exist. */
const PAID_AT = "CAST(paid_at AS CHAR)";

/**
 * The payouts of a period that come after a position, by `:at` (text) and `:id`. `:upTo` ends the range,
 * a millisecond after the position: no instant can be compared with a date that does not exist.
 */
const payoutsAfter = (limit: number) =>
  compileStatement(
    {
      wallet: WALLET,
      payouts: {
        select: PAYOUT,
        from: `payouts WHERE provider_id = :provider
          AND paid_at >= ${instant(":start")} AND paid_at <= LEAST(${instant(":end")}, ${instant(":upTo")})
          AND (${PAID_AT} < :at OR ${PAID_AT} = :at AND id < CAST(:id AS UNSIGNED))
          ${LATEST_FIRST} LIMIT ${limit}`,
      },
    },
    ["provider", "start", "end", "upTo", "at", "id"],
    "payouts",
  );

/** The number of payouts in a page by default, and the most. */
export const DEFAULT_SIZE = 50;
export const MAX_SIZE = 1_000;

/** The statements for a page of at most that many, and one more that tells whether there is another page. */
export const payoutsOfDefault = payoutsAfter(DEFAULT_SIZE + 1);
export const payoutsOfMaximum = payoutsAfter(MAX_SIZE + 1);
