/**
 * The HTTP/2 sessions of the gRPC port, in front of grpc-js: limits and options that grpc-js does
 * not have. With Node's defaults, a client that cancels often loses its connection, and its other
 * calls fail with it: Node ends a session after 1,000 resets, or after 100 streams that arrive while
 * the server is still removing cancelled ones.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { Server, Socket } from "node:net";
import type { AcceptConnection } from "../../net/connection-limit.ts";
import type { UnreadSource } from "../../net/unread.ts";
import type { Termination } from "../../tls/termination.ts";
import { createCancelThrottle } from "./cancel-throttle.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { SessionLimits } from "./limits.ts";
import { expectPreface } from "./preface.ts";
import { createReading } from "./reading.ts";
import { correctHeaders } from "./request-headers.ts";
import type { StreamEvent } from "./request-stream.ts";
import { createTurns } from "./turns.ts";

/** Published when a server is about to listen: https://nodejs.org/api/diagnostics_channel.html */
const LISTEN = "tracing:net.server.listen:asyncStart";
/** How often connections are checked for slow clients, in ms. */
const CHECK_INTERVAL = 2_000;

/** What the sessions of a server need. */
export interface SessionParts {
  readonly limits: SessionLimits;
  readonly admitConnection: AcceptConnection;
  readonly report: (event: string) => void;
  /** TLS; without it, connections are not encrypted. */
  readonly tls?: Termination | undefined;
  /** Called with each stream that has ended, and the headers of its request. */
  readonly onEnd?: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
}

/** The sessions of a server. */
export interface Sessions {
  /** Creates the sessions of the HTTP/2 servers that start to listen before `listening` settles. */
  during<T>(listening: () => Promise<T>): Promise<T>;
  /** The connections with bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** Closes all connections at once. Their calls fail with UNAVAILABLE. */
  destroy(): void;
}

/** Creates the sessions of one server. */
export function createSessions({
  limits,
  admitConnection,
  report,
  tls,
  onEnd = () => {},
}: SessionParts): Sessions {
  const options = sessionOptions(limits);
  const turns = createTurns();
  const reading = createReading();
  const cancelThrottle = createCancelThrottle(reading);
  const connections = new Map<Socket, Connection>();
  const interval = Math.min(CHECK_INTERVAL, limits.requestTimeout / 4, limits.responseTimeout / 4);
  const timer = setInterval(() => {
    for (const connection of connections.values()) connection.check();
  }, interval).unref();

  function accept(server: Server, transport: Socket): void {
    transport.on("error", () => {});
    if (!admitConnection(transport)) return;
    if (tls === undefined) serve(server, transport, transport);
    else tls.secure(transport, (socket) => serve(server, socket, transport));
  }

  /** @param socket the TCP connection under `encrypted`, which may be TLS */
  function serve(server: Server, encrypted: Socket, socket: Socket): void {
    const session = performServerHandshake(encrypted, options);
    session.on("error", () => {});
    expectPreface(session, socket, limits.prefaceTimeout, report);
    const connection = createConnection({
      session,
      socket,
      limits,
      handOver([stream, headers, flags, raw]) {
        correctHeaders(headers, raw);
        server.emit("stream", stream, headers, flags, raw);
      },
      wake: turns.join,
      ended({ stream, event: [, headers] }) {
        cancelThrottle.ended(socket, stream.rstCode !== 0);
        onEnd(stream, headers);
      },
      report,
    });
    connections.set(socket, connection);
    reading.add(socket);
    cancelThrottle.add(socket, () => {
      report("tooManyCancels");
      connection.close();
    });
    socket.once("close", () => connections.delete(socket));
    session.on("stream", (...event: unknown[]) => {
      reading.count(socket);
      cancelThrottle.opened(socket);
      connection.add(event as unknown as StreamEvent);
    });
    server.emit("session", session);
  }

  function takeOver(message: unknown): void {
    const { server } = message as { server: Server };
    // Only grpc-js listens for sessions. An HTTP/1.1 server has none.
    if (server.listenerCount("session") === 0) return;
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => accept(server, socket));
  }

  return {
    async during(listening) {
      subscribe(LISTEN, takeOver);
      try {
        return await listening();
      } finally {
        unsubscribe(LISTEN, takeOver);
      }
    },
    *unread() {
      for (const connection of connections.values()) {
        if (connection.bytes > 0) yield connection;
      }
    },
    destroy() {
      clearInterval(timer);
      tls?.closeIncomplete();
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

function sessionOptions({ maxStreams, maxCancels, maxHeaderSize }: SessionLimits): ServerOptions {
  return {
    settings: {
      maxConcurrentStreams: maxStreams,
      maxHeaderListSize: maxHeaderSize,
      initialWindowSize: WINDOW,
    },
    maxHeaderListPairs: MAX_HEADERS,
    maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
    maxSessionMemory: SESSION_MEMORY,
    // Node counts a cancelled stream as one of maxStreams until the end of its event loop turn.
    maxSessionRejectedStreams: 10_000,
    // When Node ends a session: after this many resets at once, and then these each second.
    streamResetBurst: 2 * maxCancels,
    streamResetRate: 1_000,
  };
}

/** The number of a call's request headers. */
const MAX_HEADERS = 64;
/** Bytes of a request that a client may send before the call starts. */
const WINDOW = 16 * 1024;
/** Memory of Node's HTTP/2 implementation for one connection, in MiB. Messages are not in it. */
const SESSION_MEMORY = 16;

// grpc-js handles the first error of a stream. Node may emit a second one, which would be uncaught.
subscribe("http2.server.stream.created", (message) => {
  const { stream } = message as { stream: ServerHttp2Stream };
  stream.on("error", () => {});
});
