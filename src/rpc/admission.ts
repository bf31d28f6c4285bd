/**
 * Admission: limits on concurrent calls, in total and per provider, so that neither a flood nor
 * one eager script starves the other callers. A call is rejected before it costs any work.
 */
import { ServiceError } from "../errors.ts";

/** How many calls may be in flight at once. */
export interface AdmissionLimits {
  /** Calls of all providers together, unauthenticated ones included. */
  readonly total: number;
  /** Calls of one provider. */
  readonly perProvider: number;
}

/** The limits of the service. They bound memory; the connection pool schedules the queries. */
export const ADMISSION_LIMITS: AdmissionLimits = { total: 1_000, perProvider: 250 };

/** The place of one call in the counts. */
export interface Slot {
  /**
   * Counts the call for its provider, once that is known.
   * Throws `ServiceError("tooManyCalls")` at the provider's limit.
   */
  assign(providerId: string): void;
  /** Removes the call from all counts. Must be called exactly once. */
  release(): void;
}

/**
 * Creates the counts of one process, at zero. The returned function counts a call; it throws
 * `ServiceError("overloaded")` at the total limit.
 */
export function createAdmission(limits: AdmissionLimits): () => Slot {
  let total = 0;
  const perProvider = new Map<string, number>();

  return () => {
    if (total >= limits.total) throw new ServiceError("overloaded");
    total++;
    let assigned: string | undefined;
    return {
      assign(providerId) {
        const count = perProvider.get(providerId) ?? 0;
        if (count >= limits.perProvider) throw new ServiceError("tooManyCalls");
        perProvider.set(providerId, count + 1);
        assigned = providerId;
      },
      release() {
        total--;
        if (assigned === undefined) return;
        const count = (perProvider.get(assigned) ?? 0) - 1;
        if (count > 0) perProvider.set(assigned, count);
        else perProvider.delete(assigned);
      },
    };
  };
}
