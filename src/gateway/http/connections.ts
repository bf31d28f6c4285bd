/** The open connections of the HTTP port. Each has one exchange at a time: http-server.ts. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { reset } from "../../net/reset.ts";
import type { Unread } from "../../net/unread.ts";

/** A request that is served, until its response was sent. */
export interface Exchange {
  readonly response: ServerResponse;
  /** Whether the response needs no key. The handler of the request sets it. */
  isPublic: boolean;
}

/** The connections, each with its latest exchange; undefined if that is over. */
export type Connections = Map<Socket, Exchange | undefined>;

/** Closes a connection after the response of its exchange, if there is one. */
export function endConnection(socket: Socket, exchange: Exchange | undefined): void {
  if (exchange === undefined) socket.destroySoon();
  else if (!exchange.response.headersSent) exchange.response.setHeader("connection", "close");
  else exchange.response.once("close", () => socket.destroySoon());
}

/**
 * The connections with bytes that their clients have not read. A response is written as soon as it exists,
 * and the next one is made after it was sent, so that the socket's buffer is all that there is.
 */
export function* unreadOf(connections: Connections): Generator<Unread> {
  for (const [socket, exchange] of connections) {
    const bytes = socket.writableLength;
    const isPublic = exchange?.isPublic ?? false;
    if (bytes > 0) yield { bytes, isPublic, close: () => reset(socket) };
  }
}
