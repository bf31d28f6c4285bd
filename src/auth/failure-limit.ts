/**
 * The limit on failed authentications per client address. It never concerns a valid key: the limit
 * decides which error a failed authentication gets.
 *
 * Up to the limit the error is `unauthenticated`. Beyond it the error is `tooManyFailures`. A success
 * does not reset the count.
 */
import { ServiceError } from "../errors.ts";

/**
 * How many failures of one client address are within the limit: per second in the long run, and at
 * once. A burst lets a fleet behind one address start with an outdated key.
 */
export const FAILURES_PER_ADDRESS = { rate: 20, burst: 1_000 };

/** Takes a failure out of the token bucket of an address; not allowed if that is empty. */
type TakeFailure = (address: string) => { readonly allowed: boolean };

/** Counts a failed authentication of an address. Returns its error. */
export type CountFailure = (address: string) => ServiceError;

/**
 * Creates the limit.
 *
 * @param take the buckets of the addresses
 */
export function createFailureLimit(take: TakeFailure): CountFailure {
  return (address) =>
    new ServiceError(take(address).allowed ? "unauthenticated" : "tooManyFailures");
}
