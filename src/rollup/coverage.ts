/**
 * Which rows of the ledger a rollup covers. The write side adds up exactly these rows, and the
 * read side queries all other rows, so both take the conditions from here. The rules are in
 * docs/rollups.md.
 */

/** The tables of rollups. */
export const TABLES = {
  rollups: "rollups",
  sums: "rollup_sums",
  increments: "rollup_increments",
} as const;

/** SQL condition: the rental has ended, and it ran. */
export const RENTAL_RAN = "ended_at >= started_at";

/** SQL condition: the charge is covered. `watermark` is an SQL expression, used twice. */
export function chargeCovered(watermark: string): string {
  return `recorded_at <= ${watermark} AND charged_at <= ${watermark}`;
}

/** SQL condition: the rental is covered. `watermark` is an SQL expression, used twice. */
export function rentalCovered(watermark: string): string {
  return `${RENTAL_RAN} AND updated_at <= ${watermark} AND ended_at <= ${watermark}`;
}
