/**
 * A request stream between its headers and its start. grpc-js sees a stream only when its message
 * has begun to arrive: until then a stream costs no call, and one that is cancelled costs nothing.
 */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { status } from "@grpc/grpc-js";

/** The arguments of the event "stream" of a session. */
export type StreamEvent = readonly [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: readonly string[],
];

/** An open stream. Times are those of `performance.now()`. */
export interface RequestStream {
  readonly event: StreamEvent;
  readonly stream: ServerHttp2Stream;
  /** When its headers came. */
  readonly opened: number;
  /** Health and reflection have limits of their own: their streams may stay open. */
  readonly isInfrastructure: boolean;
  /** Whether it is one of its connection's calls that have started. */
  counted: boolean;
  /** Since when it has response bytes that the client does not read. */
  unreadSince: number | undefined;
  /** Whether its response was sent when it was last checked. */
  finished: boolean;
}

/** The stream of an event. */
export function requestStream(event: StreamEvent): RequestStream {
  const [stream, headers] = event;
  return {
    event,
    stream,
    opened: performance.now(),
    isInfrastructure: `${headers[":path"]}`.startsWith("/grpc."),
    counted: false,
    unreadSince: undefined,
    finished: false,
  };
}

/** Whether a part of the message has arrived, or none will. */
export function hasMessage(stream: ServerHttp2Stream): boolean {
  return (
    stream.readableLength > 0 ||
    stream.endAfterHeaders ||
    stream.readableEnded ||
    stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
  );
}

/** Calls back once, when `hasMessage` has become true. */
export function whenMessage({ stream }: RequestStream, callback: () => void): void {
  stream.once("readable", callback);
}

/** Whether the client has not sent its message completely, and has no response yet. */
export function isIncomplete({ stream }: RequestStream): boolean {
  const { state } = stream.state;
  const received =
    stream.endAfterHeaders || state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE;
  return !received && !stream.readableEnded && !stream.headersSent;
}

/** Ends a stream with a gRPC status. `details` must be ASCII. */
export function endWith(stream: ServerHttp2Stream, code: status, details: string): void {
  if (stream.destroyed || stream.closed) return;
  if (!stream.headersSent) {
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc+proto",
        "grpc-status": String(code),
        "grpc-message": details,
      },
      { endStream: true },
    );
  }
  // RFC 9113, section 8.1: the client need not send the rest of its request.
  stream.close(constants.NGHTTP2_NO_ERROR);
}
