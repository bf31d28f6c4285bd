/** The days as CSV: the same as the service's own (`Accept: text/csv`), to the byte. */
import { type DailyRevenue, decimal } from "../../../clients/typescript/src/index.ts";
import { csvOf, digits, text } from "../export/csv.ts";

const HEADER = ["date", "grossRevenue", "platformFees", "earnings", "charges"];

/** Writes the rows in the order of the response, with its digits. */
export function dailyCsv(days: readonly DailyRevenue[]): string {
  const rows = days.map(({ date, grossRevenue, platformFees, earnings, charges }) => [
    text(date),
    ...[grossRevenue, platformFees, earnings].map((amount) => digits(decimal(amount))),
    digits(charges),
  ]);
  return csvOf(HEADER, rows);
}
