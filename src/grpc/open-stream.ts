/**
 * An open stream, and the time that its client may take: to send the request, and to read the response.
 * What is too late is answered before the stream is reset: to nginx, a reset alone is a failure of this
 * server.
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import { status } from "@grpc/grpc-js";
import type { Unread } from "../net/unread.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { Connection } from "./connection.ts";
import type { GrpcLimits } from "./limits.ts";

/** A stream from its first frame on, until its last one is sent. */
export class OpenStream implements Unread {
  readonly connection: Connection;
  /** Whether the key of its call was accepted. */
  isAccepted = false;
  /** Whether it was ended here. */
  isEnded = false;
  /** Whether it has a place among those that are open. */
  hasPlace = true;
  readonly #stream: ServerHttp2Stream;
  readonly #opened = performance.now();
  /** Since when, at a check, the client has not read its response. */
  #unreadSince: number | undefined;
  /** Whether it only had to be closed at the last check: its response was sent, or it was ended here. */
  #wasOver = false;

  constructor(stream: ServerHttp2Stream, connection: Connection) {
    this.#stream = stream;
    this.connection = connection;
  }

  /** Whether it has no claim to its place: no key that was accepted, or a response that is not read. */
  get isPublic(): boolean {
    return !this.isAccepted || this.#unreadSince !== undefined;
  }

  /** Whether a stop waits for it: its key was accepted, or its whole request has come and waits for that. */
  get holdsStop(): boolean {
    return this.isAccepted || (isComplete(this.#stream) && !this.#stream.headersSent);
  }

  get bytes(): number {
    return this.#stream.writableLength;
  }

  /** The key of its call was accepted. */
  accept(): void {
    this.isAccepted = true;
    this.connection.isKnown = true;
    this.connection.refused = 0;
  }

  /** Ends it, if it is open. Its client sees the code, such as REFUSED_STREAM, after which it tries again. */
  end(code: number): void {
    if (this.isEnded || this.#stream.destroyed) return;
    this.isEnded = true;
    this.#wasOver = false;
    this.#stream.close(code);
  }

  /** Ends it. If it was ended before, nobody reads its connection, which is closed. */
  close(): void {
    if (this.isEnded) this.connection.close();
    else this.end(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /**
   * Ends it if its client is too slow; or its connection, if nobody reads that it has ended.
   *
   * @param report counts what is ended because of a limit
   */
  check(now: number, limits: GrpcLimits, report: ReportEvent): void {
    const stream = this.#stream;
    const isReceived = isComplete(stream);
    if (this.isEnded) {
      if (this.#wasOver) this.connection.close();
      this.#wasOver = true;
    } else if (!isReceived && !stream.headersSent) {
      if (now - this.#opened <= limits.requestTimeout || stream.closed) return;
      report("requestTimeout");
      stream.respond(LATE, { endStream: true });
      // RFC 9113, section 8.1: the client need not send the rest of its request.
      this.end(constants.NGHTTP2_NO_ERROR);
    } else if (!isReceived && stream.writableFinished) {
      // The response is sent, but the client has not ended its request.
      if (this.#wasOver) this.end(constants.NGHTTP2_NO_ERROR);
      else this.#wasOver = true;
    } else if (stream.writableLength === 0 && !stream.writableFinished) {
      this.#unreadSince = undefined;
    } else {
      this.#unreadSince ??= now;
      if (now - this.#unreadSince <= limits.responseTimeout) return;
      report("responseTimeout");
      this.close();
    }
  }
}

/** Whether the client has sent its request completely. */
function isComplete(stream: ServerHttp2Stream): boolean {
  const { state } = stream.state;
  const isHalfClosed = state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE;
  return stream.endAfterHeaders || isHalfClosed || stream.readableEnded;
}

/** The response to a request that is too late. */
const LATE = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-status": status.DEADLINE_EXCEEDED,
  "grpc-message": "the request message did not arrive in time",
};
