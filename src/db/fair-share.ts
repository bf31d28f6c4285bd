/**
 * A fair queue in front of the connection pool. A fixed number of places is shared by owners
 * (providers; in the pool of keys, those that were valid before and others), so that the expensive
 * queries of one owner delay its own queries and not everybody's.
 *
 * An owner takes another place only while it holds fewer than are free: the "dynamic threshold"
 * of shared-memory switches. Of ten places, one busy owner holds at most five and two hold at
 * most eight together, so the next owner finds one free. Owners that wait are served in turn.
 */
import { ServiceError } from "../errors.ts";

/** How many may wait, which bounds memory. Admission keeps the number far below it. */
const MAX_WAITING = 10_000;

/** The places and those who wait for them. Every place that was taken must be given back once. */
export type FairShare = ReturnType<typeof createFairShare>;

/**
 * Creates the queue of one pool.
 *
 * @param size the number of places
 * @param maxWait how long to wait for a place, in ms
 */
export function createFairShare(size: number, maxWait: number) {
  let free = size;
  let waitingCount = 0;
  /** Places by owner; none for an owner without any. */
  const held = new Map<string, number>();
  /** Those who wait, by owner. The owner whose turn is next comes first. */
  const waiting = new Map<string, Set<() => void>>();

  /** Takes a place at once. Returns false if the owner has to wait for one. */
  function take(owner: string): boolean {
    const count = held.get(owner) ?? 0;
    if (count >= free) return false;
    held.set(owner, count + 1);
    free--;
    return true;
  }

  /** Gives free places to owners in turn. An owner that is served moves to the end of the map. */
  function serve(): void {
    for (const [owner, queue] of waiting) {
      if (!take(owner)) continue;
      const [grant] = queue;
      waiting.delete(owner);
      waiting.set(owner, queue);
      grant?.(); // which removes itself from the queue
    }
  }

  return {
    take,
    /**
     * Waits for a place. Rejects with `ServiceError("overloaded")` if there is none in time, and with the signal's
     * reason as soon as it aborts.
     */
    wait(owner: string, signal: AbortSignal): Promise<void> {
      if (waitingCount >= MAX_WAITING) return Promise.reject(overloaded("too many reads wait"));
      return new Promise((resolve, reject) => {
        const queue = waiting.getOrInsertComputed(owner, () => new Set());
        const leave = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", abort);
          queue.delete(grant);
          waitingCount--;
          if (queue.size === 0) waiting.delete(owner);
        };
        const grant = () => {
          leave();
          resolve();
        };
        const abort = () => {
          leave();
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          leave();
          const others = free > 0 ? `; ${free} of ${size} are free, for other providers` : "";
          reject(overloaded(`no connection became free within ${maxWait} ms${others}`));
        }, maxWait);
        signal.addEventListener("abort", abort, { once: true });
        queue.add(grant);
        waitingCount++;
      });
    },
    /** Gives a place back. */
    give(owner: string): void {
      const count = (held.get(owner) ?? 0) - 1;
      if (count > 0) held.set(owner, count);
      else held.delete(owner);
      free++;
      if (waitingCount > 0) serve();
    },
  };
}

function overloaded(reason: string): ServiceError {
  return new ServiceError("overloaded", undefined, { cause: new Error(reason) });
}
