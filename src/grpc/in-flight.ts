/** Counts the calls in flight, so that a stopping server knows when it is done. */
export interface InFlight {
  /** Counts a call until it settles. */
  track<T>(call: Promise<T>): Promise<T>;
  /** Resolves as soon as no call is in flight. */
  idle(): Promise<void>;
}

/** Makes a count that starts at zero. */
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
