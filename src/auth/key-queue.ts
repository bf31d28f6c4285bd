/**
 * The queue of key lookups. Calls whose key is not cached wait here, and one query looks up the
 * keys of many. So a flood of unknown keys costs the database a query for each batch, not for each
 * call. A caller that leaves does not cancel the query.
 *
 * The queue is bounded, and shared fairly between addresses: an address may add a lookup only while
 * fewer of its lookups wait than places are free, and a batch takes from the addresses in turn. So
 * no address can fill the queue for the others.
 */
import { ServiceError } from "../errors.ts";
import { type FindKeys, type IssuedKey, type KeyLookup, MAX_BATCH } from "./key-lookup.ts";

/** How many lookups may wait. */
export const MAX_KEY_LOOKUPS = 1_000;
/** How long a query may take, in ms; after half of it, the next one no longer waits for it. */
export const KEY_QUERY_TIMEOUT = 4_000;

interface WaitingLookup {
  readonly keyHash: Buffer;
  readonly result: PromiseWithResolvers<IssuedKey | undefined>;
}

/** Creates an empty queue. A lookup beyond `MAX_KEY_LOOKUPS` rejects with `overloaded`. */
export function createKeyQueue(findKeys: FindKeys): KeyLookup {
  /** The waiting lookups, by address; an address without any has no entry. */
  const byAddress = new Map<string, Set<WaitingLookup>>();
  let waiting = 0;
  let running = false;

  function add(address: string, lookup: WaitingLookup): void {
    const ofAddress = byAddress.getOrInsertComputed(address, () => new Set());
    ofAddress.add(lookup);
    waiting++;
  }

  function remove(address: string, lookup: WaitingLookup): void {
    const ofAddress = byAddress.get(address);
    if (!ofAddress?.delete(lookup)) return;
    waiting--;
    if (ofAddress.size === 0) byAddress.delete(address);
  }

  function takeBatch(): WaitingLookup[] {
    const batch: WaitingLookup[] = [];
    while (batch.length < MAX_BATCH && waiting > 0) {
      for (const [address, [lookup]] of byAddress) {
        if (lookup === undefined || batch.length === MAX_BATCH) break;
        remove(address, lookup);
        batch.push(lookup);
      }
    }
    return batch;
  }

  function startQuery(): void {
    if (running || waiting === 0) return;
    running = true;
    let counted = true;
    const release = () => {
      if (!counted) return;
      counted = false;
      running = false;
      startQuery();
    };
    const batch = takeBatch();
    const timeout = new AbortController();
    const expire = () => timeout.abort(new ServiceError("deadlineExceeded"));
    const timers = [
      setTimeout(release, KEY_QUERY_TIMEOUT / 2),
      setTimeout(expire, KEY_QUERY_TIMEOUT),
    ];
    findKeys(
      batch.map(({ keyHash }) => keyHash),
      timeout.signal,
    )
      .then(
        (found) => {
          for (const { keyHash, result } of batch)
            result.resolve(found.get(keyHash.toString("hex")));
        },
        (error) => {
          for (const { result } of batch) result.reject(error);
        },
      )
      .finally(() => {
        for (const timer of timers) clearTimeout(timer);
        release();
      });
  }

  return (keyHash, { signal, address }) => {
    const ofAddress = byAddress.get(address)?.size ?? 0;
    if (ofAddress >= MAX_KEY_LOOKUPS - waiting) {
      return Promise.reject(new ServiceError("overloaded"));
    }
    const result = Promise.withResolvers<IssuedKey | undefined>();
    const lookup = { keyHash, result };
    const leave = () => {
      remove(address, lookup);
      result.reject(signal.reason);
    };
    if (signal.aborted) return Promise.reject(signal.reason);
    add(address, lookup);
    signal.addEventListener("abort", leave, { once: true });
    // In a microtask, so that the calls that arrived together share the query.
    queueMicrotask(startQuery);
    return result.promise.finally(() => signal.removeEventListener("abort", leave));
  };
}
