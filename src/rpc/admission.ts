/**
 * Admission: how many calls may be under way at once, in all and of one provider, so
 * that neither a flood nor one eager script takes the service from everybody else.
 * Whoever is refused is refused before any work was done.
 */
import { ServiceError } from "../errors.ts";

export interface AdmissionBounds {
  /** Calls under way in all. */
  readonly total: number;
  /** Calls under way of one provider. */
  readonly perProvider: number;
}

/** Far above what the database's pool works on at once: a bound, not a schedule. */
export const ADMISSION_BOUNDS: AdmissionBounds = { total: 1_000, perProvider: 250 };

export interface Admission {
  /** Lets a call in. Throws `overloaded` where there are too many. */
  enter(): void;
  /** Counts the call for its provider. Throws `tooManyCalls` where it has too many. */
  enterFor(providerId: string): void;
  /** Lets the call out again; with its provider, where it was counted for one. */
  leave(providerId: string | undefined): void;
}

/** Makes the counts of one process. */
export function createAdmission(bounds: AdmissionBounds): Admission {
  let total = 0;
  const perProvider = new Map<string, number>();
  return {
    enter() {
      if (total >= bounds.total) throw new ServiceError("overloaded");
      total++;
    },
    enterFor(providerId) {
      const count = perProvider.get(providerId) ?? 0;
      if (count >= bounds.perProvider) throw new ServiceError("tooManyCalls");
      perProvider.set(providerId, count + 1);
    },
    leave(providerId) {
      total--;
      if (providerId === undefined) return;
      const count = (perProvider.get(providerId) ?? 1) - 1;
      if (count === 0) perProvider.delete(providerId);
      else perProvider.set(providerId, count);
    },
  };
}
