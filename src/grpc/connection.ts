/**
 * The open streams of one connection. A client that does not send a request in time loses the stream;
 * one that does not read a response in time, the connection. A connection that is old enough ends gracefully.
 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { status } from "@grpc/grpc-js";
import type { Unread } from "../net/unread.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { announceGoaway } from "./goaway.ts";
import type { GrpcLimits } from "./limits.ts";

/** An open connection. */
export interface Connection extends Unread {
  /** Whether it has been closed here. Its streams end a moment later. */
  readonly isClosed: boolean;
  /** Its open streams. */
  readonly streams: ReadonlyMap<ServerHttp2Stream, StreamTimes>;
  /** Tells what is served: the TCP connection, or TLS over it. */
  serve(socket: Socket): void;
  /** Asks the client to open no further stream. Resolves when it must have read that. */
  announceEnd(): Promise<void>;
  /** Adds a new stream. */
  add(stream: ServerHttp2Stream): void;
  /** Removes a stream. False if it was removed before. */
  remove(stream: ServerHttp2Stream): boolean;
  /** Ends streams, and the connection, whose client is too slow; or the connection because of its age. */
  check(): void;
}

/** Times of `performance.now()`. */
interface StreamTimes {
  readonly opened: number;
  /** Since when the client has not read its response. */
  unreadSince?: number | undefined;
  /** Whether its response was sent at the last check. */
  sent?: boolean;
}

/**
 * Creates a connection without streams.
 *
 * @param transport the TCP connection, which may be under TLS
 * @param report counts what is ended because of a limit
 */
export function createConnection(
  transport: Socket,
  limits: GrpcLimits,
  report: ReportEvent,
): Connection {
  const streams = new Map<ServerHttp2Stream, StreamTimes>();
  let served: Socket = transport;
  /** Known from its first stream on. */
  let session: ServerHttp2Session | undefined;
  let announced: Promise<void> | undefined;
  // Give or take a tenth, so that those that began together do not end together.
  const oldAt = performance.now() + limits.maxConnectionAge * (0.9 + Math.random() / 5);

  const connection: Connection = {
    streams,
    get bytes() {
      let sum = 0;
      for (const stream of streams.keys()) sum += stream.writableLength;
      return sum;
    },
    get isClosed() {
      return transport.destroyed;
    },
    // A reset, so that the kernel drops what it has buffered too.
    close: () => transport.resetAndDestroy(),
    serve(socket) {
      served = socket;
    },
    async announceEnd() {
      if (session) announced ??= announceGoaway(session, served);
      await announced;
    },
    add(stream) {
      session = stream.session as ServerHttp2Session;
      streams.set(stream, { opened: performance.now() });
    },
    remove: (stream) => streams.delete(stream),
    check() {
      const now = performance.now();
      if (now > oldAt && session && !announced) {
        connection.announceEnd().then(() => session?.close());
      }
      for (const [stream, times] of streams) {
        if (isIncomplete(stream) && now - times.opened > limits.requestTimeout) {
          report("requestTimeout");
          endLate(stream);
        } else if (stream.writableFinished) {
          // The response is sent, but the client has not ended its request.
          if (times.sent) stream.close(constants.NGHTTP2_NO_ERROR);
          times.sent = true;
        } else if (isUnread(stream, times, now)) {
          report("responseTimeout");
          connection.close();
          return;
        }
      }
    },
  };
  return connection;

  function isUnread(stream: ServerHttp2Stream, times: StreamTimes, now: number): boolean {
    if (stream.writableLength === 0) times.unreadSince = undefined;
    else times.unreadSince ??= now;
    return times.unreadSince !== undefined && now - times.unreadSince > limits.responseTimeout;
  }
}

/** Whether the client has not sent its request completely, and has no response yet. */
function isIncomplete(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  const received =
    stream.endAfterHeaders || state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE;
  return !received && !stream.readableEnded && !stream.headersSent;
}

/** The response to a request that is too late. */
const LATE = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-status": status.DEADLINE_EXCEEDED,
  "grpc-message": "the request message did not arrive in time",
};

/** Ends a stream whose request is too late. */
function endLate(stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond(LATE, { endStream: true });
  // RFC 9113, section 8.1: the client need not send the rest of its request.
  stream.close(constants.NGHTTP2_NO_ERROR);
}
