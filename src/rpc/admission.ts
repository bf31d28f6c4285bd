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
  /** The calls in flight, by share; one without any has no entry. */
  const shares = new Map<string, { inFlight: number }>();
  let inFlight = 0;

  return (name) => {
    const share = shares.get(name) ?? { inFlight: 0 };
    if (share.inFlight >= perProvider) throw new ServiceError("tooManyCalls");
    if (share.inFlight >= total - inFlight) throw new ServiceError("overloaded");
    inFlight++;
    share.inFlight++;
    shares.set(name, share);
    return () => {
      inFlight--;
      if (--share.inFlight === 0) shares.delete(name);
    };
  };
}
