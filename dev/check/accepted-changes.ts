/** Incompatible changes of the contract that are made on purpose, as buf names them. The API is in beta. */

export interface AcceptedChange {
  /** The message of `buf breaking`, whole. */
  readonly message: string;
  readonly reason: string;
}

const ONE_FILE = "whoever copies the proto needs no file of the gateway; no caller uses the option";
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
  {
    message: 'Previously present file "gateway/v1/csv.proto" was deleted.',
    reason: `now in revenue.proto: ${ONE_FILE}`,
  },
  {
    message:
      'Extension "50001" on message "google.protobuf.MethodOptions" changed name from "gateway.v1.csv_rows" to "revenue.v1.csv_rows".',
    reason: `of the package that has it: ${ONE_FILE}`,
  },
];
