/**
 * Lingering close: the end of a connection whose client may still be sending. A connection that is
 * closed with unread data is reset, and a reset can overtake the last response.
 */
import type { Socket } from "node:net";

/** How long the client may go on sending before the connection is destroyed, in ms. */
const LINGER = 1000;

/** Ends a connection after what was written to it. Discards what arrives until the client closes. */
export function closeLingering(socket: Socket): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER).unref();
}
