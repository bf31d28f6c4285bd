/** Counts calls in flight, so that a stopping server can wait for them. */

/** The count. */
export interface InFlight {
  /** Counts a call until it settles; returns its result. */
  track<T>(call: Promise<T>): Promise<T>;
  /** Resolves once no call is in flight. */
  idle(): Promise<void>;
}

/** Creates a count at zero. */
export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  const release = () => {
    count--;
    if (count > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    track(call) {
      count++;
      return call.finally(release);
    },
    idle() {
      return count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
