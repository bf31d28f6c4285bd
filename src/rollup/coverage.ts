/**
 * Which rows of the ledger a rollup covers: those that are recorded, and dated, up to its watermark. The write side
 * adds up exactly these rows, and the read side queries all others, so both take the conditions from here, and
 * nothing else compares a row with a watermark. The rules are in docs/rollups.md.
 */

/** The tables of rollups. */
export const TABLES = {
  rollups: "rollups",
  sums: "rollup_sums",
  increments: "rollup_increments",
} as const;

/** SQL condition: the rental has ended, and it ran. */
export const RENTAL_RAN = "ended_at >= started_at";

/**
 * SQL conditions of rows, by the columns that tell when a row was recorded and how it is dated. The watermark is an
 * SQL expression, which is used twice where both columns are. A row is either covered, late or after the watermark.
 */
function conditions<Recorded extends string, Dated extends string>(
  recorded: Recorded,
  dated: Dated,
) {
  return {
    /** In time to be covered, once its date has come. */
    recorded: (until: string) => `${recorded} <= ${until}`,
    covered: (watermark: string) => `${recorded} <= ${watermark} AND ${dated} <= ${watermark}`,
    /** Late, or after it: the negation of `covered`. */
    uncovered: (watermark: string) => `(${recorded} > ${watermark} OR ${dated} > ${watermark})`,
    late: (watermark: string) => `${recorded} > ${watermark} AND ${dated} <= ${watermark}`,
    after: (watermark: string) => `${dated} > ${watermark}`,
    /** What becomes covered when the watermark moves: a condition for each column that it passes, one range each. */
    passed: (since: string, until: string) => [
      {
        by: recorded,
        condition: `${recorded} > ${since} AND ${recorded} <= ${until} AND ${dated} <= ${until}`,
      },
      {
        by: dated,
        condition: `${dated} > ${since} AND ${dated} <= ${until} AND ${recorded} <= ${since}`,
      },
    ],
  };
}

export const CHARGES = conditions("recorded_at", "charged_at");
/** Of rentals that ran: others count nowhere, and one that has not ended is not covered. */
export const RENTALS = conditions("updated_at", "ended_at");
