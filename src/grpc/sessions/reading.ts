/**
 * Bounds what is read in one turn of the event loop. Node reads and parses up to 2 MiB of a
 * connection in a turn, which can be 50,000 streams; all other connections wait meanwhile. Once the
 * connections together have opened enough streams, nothing more is read in the turn. Those that
 * opened many are read again after all others, a few in each turn.
 */
import type { Socket } from "node:net";

/** Streams of all connections together in one turn. The one that is being read may exceed it. */
const MAX_STREAMS_PER_TURN = 256;
/** Streams of one connection in one turn. */
const MAX_STREAMS_PER_CONNECTION = 128;
/** Streams that make a connection one of many, if the turn had too many. */
const MANY = 8;
/** Connections with many streams that are read again in one turn. */
const RESUMED_PER_TURN = 2;

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
}

/** Creates the count of one server. */
export function createReading(): Reading {
  const open = new Set<Socket>();
  const counts = new Map<Socket, number>();
  let total = 0;
  /** Connections that are not read now, those with few streams and those with many. */
  const few = new Set<Socket>();
  const many = new Set<Socket>();
  let oldestFirst = false;
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    scheduled = false;
    counts.clear();
    total = 0;
    // They are read in this order. In every other turn the newest come first.
    oldestFirst = !oldestFirst;
    const order = oldestFirst ? [...few] : [...few].reverse();
    for (const socket of order) if (resume(socket)) few.delete(socket);
    let left = RESUMED_PER_TURN;
    for (const socket of many) {
      if (left === 0) break;
      if (!resume(socket)) continue;
      many.delete(socket);
      left--;
    }
    if (few.size + many.size > 0) schedule();
  }

  function stopAll(): void {
    for (const socket of open) {
      if (few.has(socket) || many.has(socket)) continue;
      const group = (counts.get(socket) ?? 0) >= MANY ? many : few;
      group.add(socket);
      handleOf(socket)?.readStop();
    }
  }

  return {
    add(socket) {
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        few.delete(socket);
        many.delete(socket);
      });
    },
    count(socket) {
      schedule();
      total++;
      const streams = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, streams);
      if (total === MAX_STREAMS_PER_TURN) stopAll();
      if (streams !== MAX_STREAMS_PER_CONNECTION) return;
      few.delete(socket);
      many.add(socket);
      handleOf(socket)?.readStop();
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
