/**
 * A connection of the gRPC port. It may be a proxy's, with many clients behind it: what one stream does ends
 * that stream, and only a connection that nobody reads is closed. One that is old enough ends gracefully.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { announceGoaway } from "./goaway.ts";

/** An open connection. */
export interface Connection {
  /** Whether a key was accepted on it: of a client, or of one behind a proxy. */
  isKnown: boolean;
  /** How many of its streams were refused in a flood since a key was accepted on it. */
  refused: number;
  /** Its session, known from its first stream on. */
  session: ServerHttp2Session | undefined;
  /** Tells what is served: the TCP connection, or TLS over it. */
  serve(socket: Socket): void;
  /** Asks the client to open no further stream. Resolves when it must have read that. */
  announceEnd(): Promise<void>;
  /** Ends it if it is old enough. */
  check(now: number): void;
  /**
   * Closes it, with a reset, so that the kernel drops what it has buffered too, and its session, which hands
   * over nothing more of it.
   */
  close(): void;
}

/**
 * Creates a connection.
 *
 * @param transport the TCP connection, which may be under TLS
 * @param maxAge the age at which it ends, in ms, give or take a tenth, so that those that began together
 *   do not end together
 */
export function createConnection(transport: Socket, maxAge: number): Connection {
  let served: Socket = transport;
  let announced: Promise<void> | undefined;
  const oldAt = performance.now() + maxAge * (0.9 + Math.random() / 5);

  const connection: Connection = {
    isKnown: false,
    refused: 0,
    session: undefined,
    serve(socket) {
      served = socket;
    },
    async announceEnd() {
      if (connection.session) announced ??= announceGoaway(connection.session, served);
      await announced;
    },
    check(now) {
      const { session } = connection;
      if (now > oldAt && session && !announced) {
        connection.announceEnd().then(() => session.close());
      }
    },
    close() {
      transport.resetAndDestroy();
      connection.session?.destroy();
    },
  };
  return connection;
}
