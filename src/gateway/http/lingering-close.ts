/**
 * Lingering close: the end of a connection whose client may still be sending. A connection that is closed
 * with unread data is reset, and a reset can overtake the last response.
 */
import type { Socket } from "node:net";

/** How long the client has to close the connection before it is destroyed, in ms. */
const LINGER = 1_000;

/**
 * Ends a connection after what was written to it, and after `last`, if it has not been ended. What still
 * arrives is discarded.
 */
export function closeLingering(socket: Socket, last = ""): void {
  if (socket.writableEnded) return;
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  // Else a timer would hold each socket for so long after its end: thousands of them in a flood.
  socket.once("close", () => clearTimeout(timer));
}
