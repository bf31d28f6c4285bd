/**
 * Remembering keys for a moment, so that a caller in a loop does not cost a second query per
 * request. A revocation counts within one second all the same.
 */
import type { IssuedKey, KeyLookup } from "./issued-key.ts";

/** How long what was read of a key is used, in ms, counted from before it was asked for. */
const FRESH = 500;
/** How many keys are remembered; beyond that the oldest goes. */
const MOST = 10_000;

/**
 * A lookup that remembers the keys that `lookup` found. Only found ones, so that a new key
 * counts at once and unknown keys take no room.
 *
 * @param clock the time in ms, from any beginning
 */
export function rememberKeys(lookup: KeyLookup, clock = () => performance.now()): KeyLookup {
  const memory = new Map<string, { readonly key: IssuedKey; readonly asked: number }>();
  return async (keyHash, limits) => {
    const name = keyHash.toString("latin1");
    const known = memory.get(name);
    const asked = clock();
    if (known && asked - known.asked < FRESH) return known.key;
    const key = await lookup(keyHash, limits);
    memory.delete(name);
    if (key) memory.set(name, { key, asked });
    const [oldest] = memory.keys();
    if (memory.size > MOST && oldest !== undefined) memory.delete(oldest);
    return key;
  };
}
