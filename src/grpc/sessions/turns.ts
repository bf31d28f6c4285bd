/**
 * Shares the turns of the event loop between connections. Connections with waiting streams may start
 * a few of them one connection after the other, for a few milliseconds in each turn. The others wait
 * for the next turn, so that a connection that opens streams by the thousand delays no other.
 */

/** Streams that a connection may start before it is the next one's turn. */
const STARTS = 8;
/** Time that starting streams may take in one turn, in ms. */
const TURN_DURATION = 10;

/** A connection with waiting streams. */
export interface Starter {
  /** Starts at most this many waiting streams. Returns whether more of them can be started. */
  start(count: number): boolean;
}

/** The turns of all connections. */
export interface Turns {
  /** Gives a connection its part of the next turns, until it has nothing more to start. */
  join(connection: Starter): void;
}

/** Creates the turns of one server. */
export function createTurns(): Turns {
  const waiting = new Set<Starter>();
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(run);
  }

  function run(): void {
    scheduled = false;
    const end = performance.now() + TURN_DURATION;
    for (const connection of waiting) {
      // Added again, a connection comes last, and may have another part of the same turn.
      waiting.delete(connection);
      if (connection.start(STARTS)) waiting.add(connection);
      if (performance.now() > end) break;
    }
    if (waiting.size > 0) schedule();
  }

  return {
    join(connection) {
      waiting.add(connection);
      schedule();
    },
  };
}
