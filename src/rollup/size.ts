/** From which size on a provider has a rollup. Runs and the warning about a missing one ask the same. */
import { CHARGES, RENTALS } from "./coverage.ts";

/**
 * The charges, or the rentals, from which a rollup pays. With fewer, an answer without one costs the service and the
 * database about as much as one with it, on both engines (docs/performance.md has the figures), and a rollup that
 * nobody needs is as large as what it sums.
 */
export const MIN_ROWS = 2_000;

/** The tables that are counted, each for itself. */
export type Counted = "charges" | "rentals";

/**
 * SQL, what follows FROM: the rows of a provider in a table that were recorded up to an instant. Counting them reads
 * an index. Those that are dated ahead count: their time comes.
 *
 * @param provider an SQL expression, as `until` is
 */
export function recordedRows(table: Counted, provider: string, until: string): string {
  return table === "charges"
    ? `charges FORCE INDEX (charges_by_recording) WHERE provider_id = ${provider} AND ${CHARGES.recorded(until)}`
    : `rentals FORCE INDEX (rentals_by_update) WHERE provider_id = ${provider} AND ${RENTALS.recorded(until)}`;
}
