/**
 * Bounds what is read in one turn of the event loop. Node reads and parses up to 2 MiB of a
 * connection in a turn, which can be 50,000 streams; all other connections wait meanwhile. Once the
 * connections together have opened enough streams, nothing more is read in the turn. In the next one,
 * those that have opened the fewest streams lately are read first.
 */
import type { Socket } from "node:net";

/** Streams of all connections together in one turn. The one that is being read may exceed it. */
const MAX_STREAMS_PER_TURN = 64;
/** Streams of one connection in one turn. */
const MAX_STREAMS_PER_CONNECTION = 128;
/** How long it takes until a stream counts half, in ms. */
const HALF_LIFE = 1_000;
/** Recent streams that a new connection starts with: it comes after those that open few. */
const FIRST_RECENT = 100;
/** Recent streams from which a connection is a busy one. */
const BUSY = 200;
/** Busy connections that are read again in one turn. */
const BUSY_PER_TURN = 2;

/** Node's TCP handle. The methods of the socket do not reach it: it belongs to the session. */
interface Handle {
  readonly writeQueueSize: number;
  readStart(): number;
  readStop(): number;
}

/** Counts the streams of the current turn. */
export interface Reading {
  /** Adds a connection until it closes. */
  add(socket: Socket): void;
  /** Counts a new stream of a connection. */
  count(socket: Socket): void;
  /** Stops reading a connection. */
  hold(socket: Socket): void;
  /** Reads a connection again that was held. */
  release(socket: Socket): void;
}

/** Creates the count of one server. */
export function createReading(): Reading {
  /** The open connections, with the number of their recent streams. */
  const recent = new Map<Socket, number>();
  /** The streams of this turn. */
  const counts = new Map<Socket, number>();
  let total = 0;
  /** Connections that are not read in this turn. */
  const stopped = new Set<Socket>();
  /** Connections that are not read until they are released. */
  const held = new Set<Socket>();
  let agedAt = performance.now();
  let scheduled = false;

  const recentOf = (socket: Socket) => recent.get(socket) ?? 0;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    scheduled = false;
    for (const [socket, streams] of counts) recent.set(socket, recentOf(socket) + streams);
    counts.clear();
    total = 0;
    age();
    // They are read in this order.
    const order = [...stopped].sort((one, other) => recentOf(one) - recentOf(other));
    let busy = 0;
    for (const socket of order) {
      if (recentOf(socket) >= BUSY && ++busy > BUSY_PER_TURN) break;
      if (resume(socket)) stopped.delete(socket);
    }
    if (stopped.size > 0) schedule();
  }

  function age(): void {
    const now = performance.now();
    if (now - agedAt < HALF_LIFE) return;
    agedAt = now;
    for (const [socket, streams] of recent) recent.set(socket, Math.floor(streams / 2));
  }

  function stop(socket: Socket): void {
    if (held.has(socket)) return;
    stopped.add(socket);
    handleOf(socket)?.readStop();
  }

  return {
    add(socket) {
      recent.set(socket, FIRST_RECENT);
      socket.once("close", () => {
        recent.delete(socket);
        counts.delete(socket);
        stopped.delete(socket);
        held.delete(socket);
      });
    },
    count(socket) {
      schedule();
      total++;
      const streams = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, streams);
      if (total === MAX_STREAMS_PER_TURN) for (const open of recent.keys()) stop(open);
      else if (streams === MAX_STREAMS_PER_CONNECTION) stop(socket);
    },
    hold(socket) {
      stopped.delete(socket);
      held.add(socket);
      handleOf(socket)?.readStop();
    },
    release(socket) {
      held.delete(socket);
      if (resume(socket)) return;
      stopped.add(socket);
      schedule();
    },
  };
}

/** Reads a connection again. False if that must wait. */
function resume(socket: Socket): boolean {
  const handle = handleOf(socket);
  // Node itself does not read while a write is pending, and must not be made to.
  if (handle !== undefined && handle.writeQueueSize > 0) return false;
  handle?.readStart();
  return true;
}

function handleOf(socket: Socket): Handle | undefined {
  return (socket as Socket & { readonly _handle?: Handle | null })._handle ?? undefined;
}
