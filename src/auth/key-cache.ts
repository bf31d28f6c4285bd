/**
 * Remembering keys for a moment, so that a caller in a loop does not cost a second query per
 * request. A revocation counts within one second all the same.
 */
import type { IssuedKey, KeyLookup } from "./key-lookup.ts";

/** How long what was read of a key is used, in ms, counted from before it was asked for. */
const FRESH = 500;
/** And how long while one call is asking again: many at once would all ask. */
const STALE = 900;
/** How many keys are remembered; beyond that the oldest goes. */
const MOST = 10_000;

interface Cached {
  readonly key: IssuedKey;
  readonly asked: number;
  /** Whether a call is asking for it again. */
  asking: boolean;
}

/**
 * A lookup that remembers the keys that `lookup` found. Only found ones, so that a new key
 * counts at once and unknown keys take no room.
 *
 * @param clock the time in ms, from any beginning
 */
export function cacheKeys(lookup: KeyLookup, clock = () => performance.now()): KeyLookup {
  const cache = new Map<string, Cached>();
  return async (keyHash, signal) => {
    const name = keyHash.toString("latin1");
    const known = cache.get(name);
    const asked = clock();
    if (known && asked - known.asked < (known.asking ? STALE : FRESH)) return known.key;
    if (known) known.asking = true;
    const key = await lookup(keyHash, signal).finally(() => {
      if (known) known.asking = false;
    });
    cache.delete(name);
    if (key) cache.set(name, { key, asked, asking: false });
    const [oldest] = cache.keys();
    if (cache.size > MOST && oldest !== undefined) cache.delete(oldest);
    return key;
  };
}
