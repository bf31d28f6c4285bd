/**
 * The streams of one connection: which of them may start, how many bytes of responses the client
 * has not read, and which of them take too long.
 */
import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { status } from "@grpc/grpc-js";
import type { Unread } from "../../net/unread.ts";
import type { SessionLimits } from "./limits.ts";
import { timeoutOf } from "./request-headers.ts";
import {
  endWith,
  hasMessage,
  isIncomplete,
  type RequestStream,
  requestStream,
  type StreamEvent,
  whenMessage,
} from "./request-stream.ts";
import type { Starter } from "./turns.ts";

/**
 * Calls that a new connection may have at once; the others wait. Each response that the client
 * reads allows one more, up to all of its streams.
 */
export const FIRST_CALLS = 16;
/** What is left of them if the client cancels: each call that is cancelled after its start takes one away. */
const FEWEST_CALLS = 4;

/** What a connection is made of. */
export interface ConnectionParts {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly limits: SessionLimits;
  /** Hands a stream to grpc-js. */
  readonly handOver: (event: StreamEvent) => void;
  /** Called when streams may have become able to start. */
  readonly wake: (connection: Connection) => void;
  /** Called when a stream has ended. */
  readonly ended: (request: RequestStream) => void;
  readonly report: (event: string) => void;
}

/** An open connection. */
export interface Connection extends Starter, Unread {
  /** Adds a new stream. It starts in a later turn. */
  add(event: StreamEvent): void;
  /** Ends streams, and the connection, whose client is too slow. */
  check(): void;
}

/** Creates a connection without streams. */
export function createConnection(parts: ConnectionParts): Connection {
  const { session, socket, limits, handOver, wake, report } = parts;
  const open = new Set<RequestStream>();
  /** Streams that wait for their turn, from `first` on. */
  let queue: RequestStream[] = [];
  /** Calls that have started and have not ended. */
  let calls = 0;
  let maxCalls = FIRST_CALLS;
  let cancels = 0;

  const connection: Connection = {
    get bytes() {
      let sum = 0;
      for (const { stream } of open) sum += stream.writableLength + stream.readableLength;
      return sum;
    },
    close() {
      // Also frees what is queued for a client that does not read.
      session.destroy(new Error("closed"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
      socket.destroy();
    },
    add(event) {
      const request = requestStream(event);
      open.add(request);
      request.stream.once("close", () => ended(request));
      enqueue(request);
    },
    start(count) {
      if (unread() > limits.maxUnreadPerConnection) maxCalls = FIRST_CALLS;
      let next = 0;
      for (let left = count; left > 0 && next < queue.length; ) {
        const request = queue[next] as RequestStream;
        if (isOver(request)) {
          next++;
        } else if (!hasMessage(request.stream)) {
          next++;
          whenMessage(request, () => enqueue(request));
        } else if (mayStart(request)) {
          next++;
          left--;
          begin(request);
        } else {
          break;
        }
      }
      queue = queue.slice(next);
      const [head] = queue;
      return head !== undefined && mayStart(head);
    },
    check() {
      const now = performance.now();
      for (const request of open) {
        if (isIncomplete(request) && now - request.opened > limits.requestTimeout) {
          report("requestTimeout");
          endWith(request.stream, status.DEADLINE_EXCEEDED, INCOMPLETE);
        } else if (request.stream.writableFinished) {
          // The response is sent, but the client has not ended its request.
          if (request.finished) request.stream.close(constants.NGHTTP2_NO_ERROR);
          request.finished = true;
        } else if (isUnread(request, now)) {
          report("responseTimeout");
          connection.close();
          return;
        }
      }
    },
  };
  return connection;

  function enqueue(request: RequestStream): void {
    queue.push(request);
    wake(connection);
  }

  function mayStart({ isInfrastructure }: RequestStream): boolean {
    if (isInfrastructure) return true;
    return calls < maxCalls && (calls === 0 || unread() <= limits.maxUnreadPerConnection);
  }

  function begin(request: RequestStream): void {
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      endWith(request.stream, refusal.code, refusal.details);
      return;
    }
    request.counted = !request.isInfrastructure;
    if (request.counted) calls++;
    handOver(request.event);
  }

  function ended(request: RequestStream): void {
    open.delete(request);
    const { rstCode } = request.stream;
    parts.ended(request);
    if (rstCode !== 0 && ++cancels === limits.maxCancels) closeGracefully();
    if (request.counted) {
      calls--;
      if (rstCode === 0) maxCalls = Math.min(maxCalls + 1, limits.maxStreams);
      else maxCalls = Math.max(maxCalls - 1, FEWEST_CALLS);
    }
    if (queue.length > 0) wake(connection);
  }

  /** GOAWAY: the calls are finished, and the client makes further ones on a new connection. */
  function closeGracefully(): void {
    // Not while Node reads frames: its session must not end before the frames that it has read.
    setImmediate(() => {
      if (!session.closed && !session.destroyed) session.close();
    });
  }

  function unread(): number {
    let sum = 0;
    for (const { stream } of open) sum += stream.writableLength;
    return sum;
  }

  /** Whether its response has been unread for too long. */
  function isUnread(request: RequestStream, now: number): boolean {
    if (request.stream.writableLength === 0) request.unreadSince = undefined;
    else request.unreadSince ??= now;
    return request.unreadSince !== undefined && now - request.unreadSince > limits.responseTimeout;
  }
}

/** Whether the client has given the stream up. */
function isOver({ stream }: RequestStream): boolean {
  if (!stream.closed && !stream.destroyed) return false;
  stream.destroy();
  return true;
}

/**
 * Why a gRPC request cannot be a call; undefined if it can. grpc-js does not look at this, or
 * answers with another code.
 */
function refusalOf({ event: [, headers], stream }: RequestStream) {
  if (headers[":method"] !== "POST") {
    return { code: status.UNIMPLEMENTED, details: "the method of a gRPC call is POST" };
  }
  if (Number.isNaN(timeoutOf(headers))) {
    return { code: status.INVALID_ARGUMENT, details: MALFORMED_TIMEOUT };
  }
  return stream.readableEnded
    ? { code: status.UNIMPLEMENTED, details: "the request has no message" }
    : undefined;
}

const INCOMPLETE = "the request message did not arrive in time";
const MALFORMED_TIMEOUT =
  "grpc-timeout: expected at most 8 digits and one of the units H, M, S, m, u, n";
