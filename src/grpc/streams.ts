/**
 * The open streams of the gRPC port. grpc-js does not tell of streams that it refuses, nor of those that
 * stay open after their status. Node does, on a diagnostics channel.
 *
 * If there are too many of them, the connection with the most is closed. What it has sent already is
 * handled all the same, and freed only when the event loop turns: so streams are counted in each turn,
 * too, and the connection of one that is too many in a turn is not read any further. (A thousand
 * connections with a hundred requests each in one turn would end the process.)
 *
 * @see https://nodejs.org/api/diagnostics_channel.html#http2
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { connectionId } from "../net/address.ts";
import type { UnreadSource } from "../net/unread.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { GrpcLimits } from "./limits.ts";
import { reduceHeaders, watchMessage } from "./request.ts";

const CREATED = "http2.server.stream.created";
/** How often connections are checked for slow clients, in ms. */
const CHECK_INTERVAL = 2_000;

/** What the streams of a port need. */
export interface StreamsParts {
  readonly limits: GrpcLimits;
  /** Counts what is ended because of a limit. */
  readonly report: ReportEvent;
}

/** The open streams of a port. */
export interface Streams {
  /** Follows the streams of a TCP connection until it closes. */
  follow(transport: Socket): void;
  /** Tells what is served of a connection that is followed: itself, or TLS over it. */
  serve(socket: Socket): void;
  /** Asks all clients to open no further stream. Resolves when they must have read that. */
  announceEnd(): Promise<void>;
  /** The connections with response bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** Resolves when no call is open. Health and reflection do not count: they need not end. */
  callsEnded(): Promise<void>;
  /** Ends all streams; their clients see UNAVAILABLE. */
  end(): void;
  /** Closes all connections, and follows no further ones. */
  stop(): void;
}

/** Begins to follow streams. */
export function createStreams({ limits, report }: StreamsParts): Streams {
  /** By their ends. */
  const connections = new Map<string, Connection>();
  let open = 0;
  /** Those created since the event loop turned. */
  let inTurn = 0;
  let calls = 0;
  let whenCallsEnded = () => {};

  function onCreated(message: unknown): void {
    const { stream, headers } = message as {
      stream: ServerHttp2Stream;
      headers: IncomingHttpHeaders;
    };
    // grpc-js handles the first error of a stream. Node may emit another one, which would be uncaught.
    stream.on("error", () => {});
    const connection = stream.session && connections.get(connectionId(stream.session.socket));
    if (connection === undefined) return;
    if (inTurn++ === 0) setImmediate(startTurn);
    if (inTurn > limits.maxStreams || connection.isClosed) {
      refuse(stream, headers, connection);
      return;
    }
    reduceHeaders(headers);
    const path = `${headers[":path"]}`;
    const isCall = !path.startsWith("/grpc.");
    // Reflection is the one service whose requests are streams.
    if (!path.startsWith("/grpc.reflection.")) {
      watchMessage(stream, () => end(stream, connection, "tooManyMessages"));
    }
    if (isCall) calls++;
    open++;
    connection.add(stream);
    stream.once("close", () => {
      if (connection.remove(stream)) open--;
      if (isCall && --calls === 0) whenCallsEnded();
    });
    if (open > limits.maxStreams) closeLargest();
  }

  function startTurn(): void {
    inTurn = 0;
  }

  /** Ends a connection, and its session, which hands over nothing more of it. */
  function end({ session }: ServerHttp2Stream, connection: Connection, event: string): void {
    if (!connection.isClosed) report(event);
    connection.close();
    session?.destroy();
  }

  /** Ends the connection of a stream before it hands over the next one. */
  function refuse(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    connection: Connection,
  ): void {
    // Without a content type, grpc-js answers at once, which is before the microtask, and keeps nothing.
    for (const name of Object.keys(headers)) delete headers[name];
    queueMicrotask(() => end(stream, connection, "tooManyStreams"));
  }

  function closeLargest(): void {
    const sizeOf = (connection?: Connection) => connection?.streams.size ?? 0;
    let largest: Connection | undefined;
    for (const connection of connections.values()) {
      if (sizeOf(connection) > sizeOf(largest)) largest = connection;
    }
    if (largest === undefined) return;
    report("tooManyStreams");
    largest.close();
    // Its streams end a moment later. The next ones need their places now.
    for (const stream of largest.streams.keys()) if (largest.remove(stream)) open--;
  }

  const times = [limits.requestTimeout, limits.responseTimeout, limits.maxConnectionAge];
  const interval = Math.min(CHECK_INTERVAL, ...times.map((time) => time / 4));
  const timer = setInterval(() => {
    for (const connection of connections.values()) connection.check();
  }, interval).unref();
  subscribe(CREATED, onCreated);

  return {
    follow(transport) {
      const ends = connectionId(transport);
      const connection = createConnection(transport, limits, report);
      connections.set(ends, connection);
      transport.once("close", () => {
        // Its client may have connected again from the same port before.
        if (connections.get(ends) === connection) connections.delete(ends);
      });
    },
    serve: (socket) => connections.get(connectionId(socket))?.serve(socket),
    async announceEnd() {
      await Promise.all([...connections.values()].map((connection) => connection.announceEnd()));
    },
    *unread() {
      for (const connection of connections.values()) if (connection.bytes > 0) yield connection;
    },
    callsEnded: () =>
      new Promise((resolve) => {
        whenCallsEnded = resolve;
        if (calls === 0) resolve();
      }),
    end() {
      const streams = [...connections.values()].flatMap(({ streams }) => [...streams.keys()]);
      for (const stream of streams) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    },
    stop() {
      clearInterval(timer);
      unsubscribe(CREATED, onCreated);
      for (const connection of connections.values()) connection.close();
    },
  };
}
