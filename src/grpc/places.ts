/** Places for long-lived streams: a number in all, and a smaller one for each connection. */

/** Gives places. */
export interface Places {
  /**
   * Takes a place for a stream of a connection. Returns the function that frees it, or undefined
   * if none is left.
   *
   * @param peer identifies the connection: its remote address and port
   */
  take(peer: string): (() => void) | undefined;
}

/** @param perConnection how many of the places one connection may take */
export function createPlaces(total: number, perConnection: number): Places {
  /** Places taken by each connection. */
  const taken = new Map<string, number>();
  let sum = 0;
  return {
    take(peer) {
      const before = taken.get(peer) ?? 0;
      if (sum >= total || before >= perConnection) return undefined;
      sum++;
      taken.set(peer, before + 1);
      let free = false;
      return () => {
        if (free) return;
        free = true;
        sum--;
        const left = (taken.get(peer) ?? 0) - 1;
        if (left > 0) taken.set(peer, left);
        else taken.delete(peer);
      };
    },
  };
}
