/**
 * The limit on failed authentications per client address. It never concerns a valid key: the limit
 * decides which error a failed authentication gets, and when.
 *
 * Up to the limit the error is `unauthenticated`. Beyond it the error is `tooManyFailures`, and it
 * is delayed: a client that tries keys on an HTTP/1.1 connection waits for it before its next
 * request is read. A success does not reset the count.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../errors.ts";

/**
 * How many failures of one client address are within the limit: per second in the long run, and at
 * once. A burst lets a fleet behind one address start with an outdated key.
 */
export const FAILURES_PER_ADDRESS = { rate: 20, burst: 1_000 };
/** How long an error beyond the limit is delayed, in ms. */
const FAILURE_DELAY = 1_000;
/** How many errors may be delayed at once. Beyond it, they are returned without a delay. */
const MAX_DELAYED = 5_000;

/** Takes a failure out of the token bucket of an address; not allowed if that is empty. */
type TakeFailure = (address: string) => { readonly allowed: boolean };

/**
 * Counts a failed authentication of an address and resolves to its error. Rejects with the reason of
 * `signal` if that aborts first.
 */
export type CountFailure = (address: string, signal: AbortSignal) => Promise<ServiceError>;

/**
 * Creates the limit.
 *
 * @param take the buckets of the addresses
 * @param delay how long an error beyond the limit is delayed, in ms
 */
export function createFailureLimit(take: TakeFailure, delay = FAILURE_DELAY): CountFailure {
  let delayed = 0;
  return async (address, signal) => {
    if (take(address).allowed) return new ServiceError("unauthenticated");
    if (delayed < MAX_DELAYED) {
      delayed++;
      await sleep(delay, undefined, { signal, ref: false })
        .catch(() => signal.throwIfAborted())
        .finally(() => delayed--);
    }
    return new ServiceError("tooManyFailures");
  };
}
