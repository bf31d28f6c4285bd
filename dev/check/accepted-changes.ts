/** Incompatible changes of the contract that are made on purpose, as buf names them. The API is in beta. */

export interface AcceptedChange {
  /** The message of `buf breaking`, whole. */
  readonly message: string;
  readonly reason: string;
}

const A_LIST_PAGES = "a List must page from the outset (AIP-158), and days do not";

/** An entry stays until the version that has the change is released. */
export const acceptedChanges: readonly AcceptedChange[] = [
  {
    message: 'Previously present RPC "ListDailyRevenue" on service "RevenueService" was deleted.',
    reason: `now GetDailyRevenue: ${A_LIST_PAGES}`,
  },
  {
    message: 'Previously present message "ListDailyRevenueRequest" was deleted from file.',
    reason: `now GetDailyRevenueRequest: ${A_LIST_PAGES}`,
  },
  {
    message: 'Previously present message "ListDailyRevenueResponse" was deleted from file.',
    reason: `now GetDailyRevenueResponse: ${A_LIST_PAGES}`,
  },
];
