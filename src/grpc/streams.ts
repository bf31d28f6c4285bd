/**
 * The streams of the gRPC port, and what grpc-js must not do with them. It takes apart everything that comes
 * before anything can refuse it: binary headers at their commas, all messages of a DATA frame. It has no option
 * against that (https://github.com/grpc/grpc-node/blob/master/packages/grpc-js/src/server-interceptors.ts). So
 * headers are reduced before it reads them, and a request with more than its message is ended.
 *
 * Node tells of a stream on a diagnostics channel, and hands the same headers to grpc-js; test/unit/grpc fails
 * if it does not any more.
 *
 * @see https://nodejs.org/api/diagnostics_channel.html#http2
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { PROVIDER_HEADER } from "../auth/provider.ts";
import { reset } from "../net/reset.ts";
import type { UnreadSource } from "../net/unread.ts";
import { parseGrpcTimeout } from "../rpc/grpc-timeout.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { RENAMED } from "./compression.ts";

const CREATED = "http2.server.stream.created";

/**
 * The headers that grpc-js and this service need, and the longest value of each, in characters: longer than
 * any that is valid. grpc-js keeps all of them until the stream ends, and quotes some in its answer.
 */
const NEEDED: Readonly<Record<string, number>> = {
  ...{ ":method": 16, ":path": 128, ":scheme": 16, ":authority": 256 },
  ...{ "content-type": 128, te: 16, "user-agent": 256 },
  ...{ "grpc-timeout": 16, "grpc-encoding": 32, "grpc-accept-encoding": 128 },
  ...{ "x-api-key": 256, authorization: 256, [PROVIDER_HEADER]: 32 },
  ...{ "x-request-id": 256, "x-forwarded-for": 2_048, traceparent: 128, tracestate: 1_024 },
};
/** What stands for the address of its client in the metadata of a call. */
export const PEER = "peer-address";
/** Those that say who calls, and about whom: one that is too long is a wrong one, and not none. */
const IDENTITY = new Set(["x-api-key", "authorization", PROVIDER_HEADER]);
/** gRPC with protobuf. */
const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:;|$)/;
/** A longer timeout is none, in ms: longer than the longest call. Beyond 24 days, timers overflow. */
const LONGEST = 60_000;

/**
 * Reduces the headers of a request to those that are needed, in place. HPACK lets a client name a header of
 * 4 KiB with a byte: 19 KB on the wire became six million buffers.
 */
export function reduceHeaders(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) {
    const [value, most = -1] = [`${headers[name]}`, NEEDED[name]];
    if (value.length <= most) continue;
    if (IDENTITY.has(name)) headers[name] = value.slice(0, most);
    else delete headers[name];
  }
  // grpc-js takes every method and codec, and answers 415 to a request without a content type.
  const type = `${headers["content-type"]}`;
  if (headers[":method"] !== "POST" || !CONTENT_TYPE.test(type)) delete headers["content-type"];
  const timeout = headers["grpc-timeout"];
  if (timeout && parseGrpcTimeout(`${timeout}`) > LONGEST) delete headers["grpc-timeout"];
  const encoding = headers["grpc-encoding"];
  if (encoding !== "gzip" && encoding !== "deflate") return;
  headers[RENAMED] = encoding;
  delete headers["grpc-encoding"];
}

/** The flag and the length of a message, in bytes. */
const PREFIX = 5;
/** What may follow the message of a request, in bytes. grpc-js says what is wrong with that. */
export const MAX_SURPLUS = 1_024;
/** What a stream of reflection, the one service whose requests are streams, may send, in bytes. */
export const MAX_QUESTIONS = 16 * 1_024;

/**
 * Ends a stream with much more than the message of its request: a DATA frame of 16 KiB holds 3,276 empty ones.
 *
 * @param report counts such streams: `tooManyMessages`
 */
function limitMessages(stream: ServerHttp2Stream, isReflection: boolean, report: ReportEvent) {
  const prefix = Buffer.alloc(PREFIX);
  let received = 0;
  // It reads what grpc-js reads, and before: a listener alone would begin to read. What comes after the
  // response nobody else reads, and the stream ends only when it is read.
  stream.on("data", (data: Buffer) => {
    if (received < PREFIX) data.copy(prefix, received);
    received += data.length;
    const most = isReflection ? MAX_QUESTIONS : PREFIX + prefix.readUInt32BE(1) + MAX_SURPLUS;
    if (received <= most || stream.closed) return;
    report("tooManyMessages");
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  stream.pause().once("finish", () => stream.resume());
}

/** The open streams of the process. */
export interface Streams {
  /** How many there are. */
  readonly size: number;
  /** The connections with response bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** Begins to follow those of the process. */
  start(): void;
  /** Follows no further ones. */
  stop(): void;
}

/**
 * Creates what follows streams.
 *
 * @param connectionOf finds the connection of a session, by its ends
 */
export function followStreams(
  report: ReportEvent,
  connectionOf: (socket: Socket) => Socket | undefined,
): Streams {
  const open = new Set<ServerHttp2Stream>();
  const connections = new WeakMap<Http2Session, Socket | undefined>();
  const end = (session: Http2Session) => {
    // Before the session, which waits until all is written.
    const connection = connections.get(session);
    if (connection) reset(connection);
    session.destroy();
  };

  function onCreated(message: unknown): void {
    const { stream, headers } = message as {
      stream: ServerHttp2Stream;
      headers: IncomingHttpHeaders;
    };
    // grpc-js handles the first error of a stream. Node may emit another one, which would be uncaught.
    stream.on("error", () => {});
    reduceHeaders(headers);
    const { session } = stream;
    headers[PEER] = session?.socket.remoteAddress;
    const isReflection = `${headers[":path"]}`.startsWith("/grpc.reflection.");
    limitMessages(stream, isReflection, report);
    open.add(stream);
    if (session && !connections.has(session))
      connections.set(session, connectionOf(session.socket));
    stream.once("close", () => {
      open.delete(stream);
      // By keepalive, for example.
      if (session?.destroyed) end(session);
    });
  }

  return {
    start: () => subscribe(CREATED, onCreated),
    get size() {
      return open.size;
    },
    *unread() {
      const sessions = new Map<Http2Session, number>();
      for (const { session, writableLength } of open) {
        if (session && writableLength > 0) {
          sessions.set(session, (sessions.get(session) ?? 0) + writableLength);
        }
      }
      for (const [session, bytes] of sessions) yield { bytes, close: () => end(session) };
    },
    stop: () => unsubscribe(CREATED, onCreated),
  };
}
