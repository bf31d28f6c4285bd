/** What CSV has as its rows. A response with one list has these, and needs no entry. */

/** The field with the rows, by the name of the RPC, where the response has several lists. */
export const CSV_ROWS: Readonly<Record<string, string>> = { GetOverview: "server_revenue" };
