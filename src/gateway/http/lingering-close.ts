/**
 * Lingering close: the end of a connection whose client may still be sending. A connection that is
 * closed with unread data is reset, and a reset can overtake the last response.
 */
import type { Socket } from "node:net";

/** How long the client may go on sending before the connection is destroyed, in ms. */
const LINGER = 1000;

/** How many bytes of it are read. Then the client has to wait, and can read the response. */
const MAX_DISCARDED = 256 * 1024;

/**
 * Ends a connection after what was written to it, if it has not been ended. Discards what arrives
 * until the client closes.
 */
export function closeLingering(socket: Socket): void {
  if (socket.writableEnded) return;
  let discarded = 0;
  socket.end();
  // The parser would go on parsing.
  socket.removeAllListeners("data");
  socket.on("data", ({ length }: Buffer) => {
    discarded += length;
    if (discarded >= MAX_DISCARDED) socket.pause();
  });
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once("close", () => clearTimeout(timer));
}
