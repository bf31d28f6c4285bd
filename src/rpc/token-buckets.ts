/**
 * Token buckets in the memory of this process. A bucket holds `burst` requests, and is refilled with
 * `rate` requests per second. So in any time of t seconds at most burst + rate × t requests are
 * allowed, and a caller that stays below that is never refused.
 */
import { LRUCache } from "lru-cache";

/** The size of the buckets. */
export interface BucketSize {
  /** Requests per second in the long run; at least 1. */
  readonly rate: number;
  /** Requests at once; at least 1. */
  readonly burst: number;
}

/** The result of a request to a bucket. */
export interface Taken {
  readonly allowed: boolean;
  /** Whole requests that are left in the bucket. */
  readonly remaining: number;
  /** In ms: until the bucket is full, or, if nothing is left, until the next request is allowed. */
  readonly wait: number;
}

/** How many buckets are kept. The least recently used are forgotten first: they count as full. */
const MAX_BUCKETS = 100_000;

/** The part of an interval by which rounding may shift a time. */
const ROUNDING = 0.01;

/** Takes one request out of the bucket of `key`. */
export type TakeToken = (key: string) => Taken;

/**
 * Creates the buckets, all full.
 *
 * @param clock a monotonic time in ms
 */
export function createTokenBuckets(
  { rate, burst }: BucketSize,
  clock = () => performance.now(),
): TakeToken {
  /** When a bucket is full again, in ms. */
  const fullAt = new LRUCache<string, number>({ max: MAX_BUCKETS });
  const interval = 1_000 / rate;
  /** How long an empty bucket takes to be full. */
  const window = burst * interval;

  return (key) => {
    const now = clock();
    const before = Math.max((fullAt.get(key) ?? 0) - now, 0);
    const allowed = before + interval <= window + interval * ROUNDING;
    const untilFull = allowed ? before + interval : before;
    fullAt.set(key, now + untilFull);
    const remaining = Math.max(Math.floor((window - untilFull) / interval + ROUNDING), 0);
    const wait = remaining > 0 ? untilFull : untilFull + interval - window;
    return { allowed, remaining, wait: Math.max(wait, 0) };
  };
}
