/** The SQL of ListPayouts. */
import { compileStatement } from "../../db/statement.ts";
import { DEFAULT_SIZE, MAX_SIZE, rowsAfter } from "../pages.ts";
import { WALLET } from "../wallet.ts";
import { PAYOUT } from "./payout.ts";

const payoutsAfter = (limit: number) =>
  compileStatement(
    {
      wallet: WALLET,
      page: { select: PAYOUT, from: rowsAfter("payouts", Object.values(PAYOUT), "paid_at", limit) },
    },
    "payouts",
  );

/** The statements for a page of at most that many, and one more that tells whether there is another page. */
export const payoutsOfDefault = payoutsAfter(DEFAULT_SIZE + 1);
export const payoutsOfMaximum = payoutsAfter(MAX_SIZE + 1);
