/**
 * The rate limit per provider: one token bucket for all of its requests, whatever the RPC and the
 * protocol (src/rpc/token-buckets.ts says what that guarantees). With a store, replicas share the
 * buckets (src/rpc/rate-limit-store.ts). While the store is away, each replica allows its part:
 * the limit divided by the number of replicas when the store last answered.
 *
 * Every request is told what is left, in the headers of
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11
 */
import { createSharedBuckets } from "./rate-limit-store.ts";
import { createTokenBuckets, type Taken } from "./token-buckets.ts";

/** What `createRateLimit` needs. */
export interface RateLimitOptions {
  /** Requests per second of one provider, in the long run; 0 for no limit. */
  readonly rate: number;
  /** Requests of one provider at once; 0 for as many as `rate`. */
  readonly burst: number;
  /** The URL of a Redis or Valkey server in which replicas share the limit; none by default. */
  readonly store?: string | undefined;
  /** Is called with the reason each time that the store did not decide, to be logged by sum. */
  readonly report: (event: string) => void;
  /** Returns a monotonic time in ms; that of the process by default. */
  readonly clock?: () => number;
}

/** Whether a request is allowed. */
export interface RateLimitState {
  readonly allowed: boolean;
  /**
   * To send with the response or the error: `ratelimit-policy`, `ratelimit`, and `retry-after` if
   * the request is refused.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** The limit of all providers. */
export interface RateLimit {
  /**
   * Counts a request of a provider. Without a store the result is not a promise; with one it takes
   * at most 50 ms. Never throws or rejects.
   */
  consume(providerId: string): RateLimitState | Promise<RateLimitState>;
  /** Disconnects from the store. */
  close(): void;
}

/** Creates the limit; undefined if there is none. */
export function createRateLimit(options: RateLimitOptions): RateLimit | undefined {
  const { rate, store, report, clock } = options;
  if (rate === 0) return undefined;
  const size = { rate, burst: options.burst || rate };
  const take = createTokenBuckets(size, clock);
  // A client that sends at most `q` requests in any `w` seconds is never refused.
  const policy = `"default";q=${size.burst};w=${wholeSeconds((size.burst / rate) * 1_000)}`;
  const stateOf = ({ allowed, remaining, wait }: Taken): RateLimitState => {
    const seconds = wholeSeconds(wait);
    const headers = {
      "ratelimit-policy": policy,
      ratelimit: `"default";r=${remaining};t=${seconds}`,
    };
    return { allowed, headers: allowed ? headers : { ...headers, "retry-after": `${seconds}` } };
  };

  if (store === undefined) {
    return { consume: (providerId) => stateOf(take(providerId)), close() {} };
  }
  const shared = createSharedBuckets({ ...size, store, report });
  return {
    async consume(providerId) {
      const taken = await shared.take(providerId);
      return stateOf(taken ?? take(providerId, shared.replicas()));
    },
    close: shared.close,
  };
}

/** Rounds up to whole seconds, and to at least one. */
function wholeSeconds(milliseconds: number): number {
  return Math.max(Math.ceil(milliseconds / 1_000), 1);
}
