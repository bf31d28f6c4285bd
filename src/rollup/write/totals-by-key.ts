/** What each server and instance came to: a totals of figures, added up and compared in memory. */

/** Totals of one server and instance. */
export interface Totals {
  /** Cents. */
  readonly gross: bigint;
  /** How many charges. */
  readonly charges: number;
  /** How many ended rentals had started. */
  readonly started: number;
  /** How many ended rentals had ended. */
  readonly ended: number;
}

/** Totals by `server/instance`; the instance is 0 for what belongs to none. */
export type TotalsByKey = ReadonlyMap<string, Totals>;

const NOTHING: Totals = { gross: 0n, charges: 0, started: 0, ended: 0 };

/** The sum of two vectors. */
export function plus(left: TotalsByKey, right: TotalsByKey): TotalsByKey {
  return combine(left, right, 1);
}

/** The difference of two vectors, without what is nothing in it. */
export function minus(left: TotalsByKey, right: TotalsByKey): TotalsByKey {
  return combine(left, right, -1);
}

/** The gross of all, in cents. */
export function grossOf(totals: TotalsByKey): bigint {
  return totals.values().reduce((sum, { gross }) => sum + gross, 0n);
}

function combine(left: TotalsByKey, right: TotalsByKey, sign: 1 | -1): TotalsByKey {
  const result = new Map(left);
  for (const [key, change] of right) {
    const { gross, charges, started, ended } = result.get(key) ?? NOTHING;
    const figures = {
      gross: gross + BigInt(sign) * change.gross,
      charges: charges + sign * change.charges,
      started: started + sign * change.started,
      ended: ended + sign * change.ended,
    };
    if (isNothing(figures)) result.delete(key);
    else result.set(key, figures);
  }
  return result;
}

function isNothing({ gross, charges, started, ended }: Totals): boolean {
  return gross === 0n && charges === 0 && started === 0 && ended === 0;
}
