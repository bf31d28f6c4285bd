/**
 * The wallet's balance, NULL without a wallet. The aggregate makes it one row, so it is the first query of a
 * statement that relies on no rollup.
 */
export const WALLET = {
  select: { balance: "MAX(available_balance)" },
  from: "wallets WHERE provider_id = :provider",
};
