/**
 * Admission: limits on the authenticated calls in flight, in total and of each share, so that neither
 * a flood nor one eager script starves the other callers. A call is rejected before it costs a query
 * for figures.
 */
import { ServiceError } from "../errors.ts";

/** How many calls may be in flight at once. They bound memory; `src/db/` schedules the queries. */
export interface AdmissionLimits {
  /** Calls of all callers together. */
  readonly total: number;
  /** Calls of one share: a provider, or a service key. */
  readonly perProvider: number;
}

/**
 * Counts a call of a share. Returns a function that removes it from the counts, to be called
 * exactly once.
 *
 * Throws `ServiceError("tooManyCalls")` at the limit of the share, and `overloaded` if it has as many
 * calls in flight as are free: a few callers cannot take the last ones from the others.
 */
type Admit = (share: string) => () => void;

/** Creates the counts of one process, at zero. */
export function createAdmission({ total, perProvider }: AdmissionLimits): Admit {
  const counts = new Map<string, number>();
  let inFlight = 0;

  return (share) => {
    const count = counts.get(share) ?? 0;
    if (count >= perProvider) throw new ServiceError("tooManyCalls");
    if (count >= total - inFlight) throw new ServiceError("overloaded");
    inFlight++;
    counts.set(share, count + 1);
    return () => {
      inFlight--;
      const rest = (counts.get(share) ?? 0) - 1;
      if (rest > 0) counts.set(share, rest);
      else counts.delete(share);
    };
  };
}
