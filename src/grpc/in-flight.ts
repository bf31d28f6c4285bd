/** Counting the calls under way, to know when a server that takes no new ones is done. */
import type { Rpc } from "../rpc/call.ts";

export interface InFlight {
  /** The same calls, counted. */
  readonly rpc: Rpc;
  /** Resolves as soon as no call is under way. */
  idle(): Promise<void>;
}

export function countInFlight(rpc: Rpc): InFlight {
  let count = 0;
  const waiting: (() => void)[] = [];
  return {
    rpc: {
      async call(incoming) {
        count++;
        try {
          return await rpc.call(incoming);
        } finally {
          count--;
          if (count === 0) for (const resolve of waiting.splice(0)) resolve();
        }
      },
    },
    idle() {
      return count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
