/** The response bytes that clients of HTTP/1.1 connections have not read yet. */
import type { Socket } from "node:net";
import { reset } from "../../net/reset.ts";
import type { Unread } from "../../net/unread.ts";

/**
 * The connections with unread bytes. A connection holds one response at a time (exchange.ts),
 * which is written to its socket as soon as it exists, so that the socket's buffer is all there is.
 */
export function* unreadOf(sockets: Iterable<Socket>): Generator<Unread> {
  for (const socket of sockets) {
    const bytes = socket.writableLength;
    if (bytes > 0) yield { bytes, close: () => reset(socket) };
  }
}
