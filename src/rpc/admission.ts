/**
 * Admission: limits on the authenticated calls in flight, in total and per provider, so that neither
 * a flood nor one eager script starves the other callers. A call is rejected before it costs a query
 * for figures.
 */
import { ServiceError } from "../errors.ts";

/** How many calls may be in flight at once. They bound memory; `src/db/` schedules the queries. */
export interface AdmissionLimits {
  /** Calls of all providers together. */
  readonly total: number;
  /** Calls of one provider. */
  readonly perProvider: number;
}

/**
 * Counts a call of a provider. Returns a function that removes it from the counts, to be called
 * exactly once.
 *
 * Throws `ServiceError("tooManyCalls")` at the provider's limit, and `overloaded` if the provider has
 * as many calls in flight as are free: a few providers cannot take the last ones from the others.
 */
type Admit = (providerId: string) => () => void;

/** Creates the counts of one process, at zero. */
export function createAdmission({ total, perProvider }: AdmissionLimits): Admit {
  const counts = new Map<string, number>();
  let inFlight = 0;

  return (providerId) => {
    const count = counts.get(providerId) ?? 0;
    if (count >= perProvider) throw new ServiceError("tooManyCalls");
    if (count >= total - inFlight) throw new ServiceError("overloaded");
    inFlight++;
    counts.set(providerId, count + 1);
    return () => {
      inFlight--;
      const rest = (counts.get(providerId) ?? 0) - 1;
      if (rest > 0) counts.set(providerId, rest);
      else counts.delete(providerId);
    };
  };
}
