/**
 * Slows down connections whose clients cancel most of their calls. A cancelled stream costs its
 * client nothing, and the server almost as much as an answered one. Many of them make the turns of
 * the event loop long. All others wait then, and new connections most: libuv accepts one per turn.
 *
 * So those connections are read one at a time, and for half of the time at most.
 */
import type { Socket } from "node:net";
import type { Reading } from "./reading.ts";

/**
 * Cancelled streams, less `WORTH` for each answered one, from which a connection is throttled. Of a
 * client that cancels up to two thirds of its calls, it never is.
 */
export const MAX_CANCELS = 128;
const WORTH = 2;
/** The least value of that count: answers long ago do not allow any number of cancels. */
const LEAST = -256;
/**
 * Throttled connections that may wait to be read. Each holds its streams, and whether its client has
 * left shows only when it is read. Beyond that, the one with the most cancels is closed.
 */
const MAX_WAITING = 24;
/** The shortest pause between two reads, in ms. */
const MIN_PAUSE = 5;

/** The throttle of one server. */
export interface CancelThrottle {
  /** Adds a connection until it closes. `close` closes it if too many are throttled. */
  add(socket: Socket, close: () => void): void;
  /** Counts a new stream. */
  opened(socket: Socket): void;
  /** Counts the end of a stream. */
  ended(socket: Socket, cancelled: boolean): void;
}

/** Creates the throttle of one server. */
export function createCancelThrottle(reading: Reading): CancelThrottle {
  const connections = new Map<Socket, { cancels: number; readonly close: () => void }>();
  /** Throttled connections that are not read now, in the order of their turns. */
  const waiting = new Set<Socket>();
  let scheduled = false;

  const cancelsOf = (socket: Socket) => connections.get(socket)?.cancels ?? 0;

  function throttle(socket: Socket): void {
    if (cancelsOf(socket) <= MAX_CANCELS || waiting.has(socket)) return;
    reading.hold(socket);
    waiting.add(socket);
    if (!scheduled) schedule(MIN_PAUSE);
    if (waiting.size > MAX_WAITING) closeOne();
  }

  function closeOne(): void {
    const [most] = [...waiting].sort((one, other) => cancelsOf(other) - cancelsOf(one));
    if (most === undefined) return;
    waiting.delete(most);
    // Not while Node reads frames: its session must not end before the frames that it has read.
    setImmediate(() => connections.get(most)?.close());
  }

  function schedule(pause: number): void {
    scheduled = true;
    setTimeout(readNext, pause).unref();
  }

  /** Reads one connection. The others then have as much time as that took. */
  function readNext(): void {
    scheduled = false;
    const [socket] = waiting;
    if (socket === undefined) return;
    scheduled = true;
    const start = performance.now();
    waiting.delete(socket);
    reading.release(socket);
    // Its streams start, and cancelled ones are removed, in the turn after it was read.
    setImmediate(() => {
      setImmediate(() => schedule(Math.max(performance.now() - start, MIN_PAUSE)));
    });
  }

  return {
    add(socket, close) {
      connections.set(socket, { cancels: 0, close });
      socket.once("close", () => {
        connections.delete(socket);
        waiting.delete(socket);
      });
    },
    opened: throttle,
    ended(socket, cancelled) {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      if (!cancelled) connection.cancels = Math.max(connection.cancels - WORTH, LEAST);
      else if (++connection.cancels > MAX_CANCELS) throttle(socket);
    },
  };
}
