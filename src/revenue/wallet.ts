/** The wallet's balance, NULL without a wallet. Each is the first query of a statement, and has one row. */
import { CONFIRMED } from "../rollup/read/facts.ts";

/** Of a statement that relies on no rollup: the aggregate makes it one row. */
export const WALLET = {
  select: { version: "NULL", balance: "MAX(available_balance)" },
  from: "wallets WHERE provider_id = :provider",
};

/** Of one that relies on a rollup. As a column of the one row, it costs less than as a query of its own. */
export const CONFIRMED_WITH_WALLET = {
  select: {
    ...CONFIRMED.select,
    balance: "(SELECT available_balance FROM wallets WHERE provider_id = :provider)",
  },
  from: CONFIRMED.from,
};
