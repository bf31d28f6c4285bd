/** The response bytes that clients of HTTP/1.1 connections have not read yet. */
import type { Socket } from "node:net";
import { reset } from "../../net/reset.ts";
import type { Unread } from "../../net/unread.ts";
import type { Exchanges } from "./exchange.ts";

/**
 * The connections with unread bytes. A connection holds one response at a time (exchange.ts),
 * which is written to its socket as soon as it exists, so that the socket's buffer is all there is.
 */
export function* unreadOf(connections: ReadonlyMap<Socket, Exchanges>): Generator<Unread> {
  for (const [socket, { isPublic }] of connections) {
    const bytes = socket.writableLength;
    if (bytes > 0) yield { bytes, isPublic, close: () => reset(socket) };
  }
}
