/**
 * Caches API keys for half a second, so that a busy caller does not cost a key query per call.
 * A revocation takes effect within one second.
 */
import { LRUCache } from "lru-cache";
import type { IssuedKey, KeyLookup } from "./key-lookup.ts";

/** How long a cached key is used, in ms from the start of its query. */
const FRESH = 500;
/** How long it is used while one call refreshes it, in ms, so that the others need not query. */
const STALE = 900;
/** The size of the cache; least recently used keys are evicted first. */
const MAX_KEYS = 10_000;

interface Entry {
  readonly key: IssuedKey;
  /** When its query started. */
  readonly queriedAt: number;
  /** Whether a call is refreshing it. */
  refreshing: boolean;
}

/** The lookups under the cache: a queue for each, so that a flood of unknown keys delays no known one. */
export interface KeyQueues {
  /** For keys that are or were in the cache. */
  readonly known: KeyLookup;
  /** For all others. */
  readonly unknown: KeyLookup;
}

/**
 * Caches the keys that are found. Unknown keys are not cached, so that a new key is valid at once
 * and unknown keys take no memory.
 */
export function cacheKeys(queues: KeyQueues): KeyLookup {
  const cache = new LRUCache<string, Entry>({ max: MAX_KEYS });
  return async (keyHash, request) => {
    const hash = keyHash.toString("latin1");
    const cached = cache.get(hash);
    const now = performance.now();
    const hit = cached && now - cached.queriedAt < (cached.refreshing ? STALE : FRESH);
    if (hit) return cached.key;
    if (cached) cached.refreshing = true;
    const lookup = cached ? queues.known : queues.unknown;
    const key = await lookup(keyHash, request).finally(() => {
      if (cached) cached.refreshing = false;
    });
    if (key) cache.set(hash, { key, queriedAt: now, refreshing: false });
    else cache.delete(hash);
    return key;
  };
}
