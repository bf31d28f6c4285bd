/**
 * Remembering keys for a moment, so that a caller in a loop does not cost a second query per
 * request. A revocation counts within one second all the same.
 */
import type { IssuedKey, KeyLookup } from "./issued-key.ts";

/** How long what was read of a key is used, in ms, counted from before it was asked for. */
const FRESH = 500;
/** And how long while one call is asking again: many at once would all ask. */
const STALE = 900;
/** How many keys are remembered; beyond that the oldest goes. */
const MOST = 10_000;

interface Remembered {
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
export function rememberKeys(lookup: KeyLookup, clock = () => performance.now()): KeyLookup {
  const memory = new Map<string, Remembered>();
  return async (keyHash, limits) => {
    const name = keyHash.toString("latin1");
    const known = memory.get(name);
    const asked = clock();
    if (known && asked - known.asked < (known.asking ? STALE : FRESH)) return known.key;
    if (known) known.asking = true;
    const key = await lookup(keyHash, limits).finally(() => {
      if (known) known.asking = false;
    });
    memory.delete(name);
    if (key) memory.set(name, { key, asked, asking: false });
    const [oldest] = memory.keys();
    if (memory.size > MOST && oldest !== undefined) memory.delete(oldest);
    return key;
  };
}
