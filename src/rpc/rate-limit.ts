/**
 * The rate limit of each share (a provider, or a service key): one token bucket for all of its requests to
 * this process, whatever the RPC and the protocol (src/rpc/token-buckets.ts says what that guarantees).
 *
 * Every response says what is left, in the headers of
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11
 */
import { createTokenBuckets, type Taken } from "./token-buckets.ts";

/** What `createRateLimit` needs. */
export interface RateLimitOptions {
  /** Requests per second of one share, in the long run; 0 for no limit. */
  readonly rate: number;
  /** Requests of one share at once; 0 for as many as `rate`. */
  readonly burst: number;
  /** Returns a monotonic time in ms; that of the process by default. */
  readonly clock?: () => number;
}

/** The limit of all shares. */
export type RateLimit = NonNullable<ReturnType<typeof createRateLimit>>;

/** Creates the limit; undefined if there is none. */
export function createRateLimit(options: RateLimitOptions) {
  const { rate, clock } = options;
  if (rate === 0) return undefined;
  const size = { rate, burst: options.burst || rate };
  const take = createTokenBuckets(size, clock);
  // A client that sends at most `q` requests in any `w` seconds is never refused.
  const policy = `"default";q=${size.burst};w=${wholeSeconds((size.burst / rate) * 1_000)}`;
  /**
   * Whether a request is allowed, and what to send with the response or the error: `ratelimit-policy`,
   * `ratelimit`, and `retry-after` if the request is refused.
   */
  const stateOf = ({ allowed, remaining, wait }: Taken) => {
    const seconds = wholeSeconds(wait);
    const headers: Readonly<Record<string, string>> = {
      "ratelimit-policy": policy,
      ratelimit: `"default";r=${remaining};t=${seconds}`,
    };
    return { allowed, headers: allowed ? headers : { ...headers, "retry-after": `${seconds}` } };
  };
  /** Counts a request of a share. Never throws. */
  return { consume: (share: string) => stateOf(take(share)) };
}

/** Rounds up to whole seconds, and to at least one. */
function wholeSeconds(milliseconds: number): number {
  return Math.max(Math.ceil(milliseconds / 1_000), 1);
}
