/**
 * The open streams of the gRPC port. grpc-js does not tell of streams that it refuses, nor of those that
 * stay open after their status. Node does, on a diagnostics channel.
 *
 * If there are too many of them, the connection with the most is closed.
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
import { peerOf } from "../net/address.ts";
import type { UnreadSource } from "../net/unread.ts";
import { renameEncoding } from "./compression.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { GrpcLimits } from "./limits.ts";

const CREATED = "http2.server.stream.created";
/** How often connections are checked for slow clients, in ms. */
const CHECK_INTERVAL = 2_000;

/** What the streams of a port need. */
export interface StreamsParts {
  readonly limits: GrpcLimits;
  /** Counts what is ended because of a limit. */
  readonly report: (event: string) => void;
  /** Called with each stream that has ended, and the headers of its request. */
  readonly onEnd: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
}

/** The open streams of a port. */
export interface Streams {
  /** Follows the streams of a TCP connection until it closes. */
  follow(transport: Socket): void;
  /** The open connection of a peer (`peerOf`). */
  connectionOf(peer: string): Connection | undefined;
  /** The connections with response bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** Resolves when no call is open. Watches of health and reflection are none: they have no end. */
  callsEnded(): Promise<void>;
  /** Ends all streams; their clients see UNAVAILABLE. */
  end(): void;
  /** Closes all connections, and follows no further ones. */
  stop(): void;
}

/** A connection, and how many places for streams it takes. */
interface Holder {
  readonly connection: Connection;
  places: number;
}

/** Begins to follow streams. */
export function createStreams({ limits, report, onEnd }: StreamsParts): Streams {
  const holders = new Map<string, Holder>();
  const bySession = new WeakMap<Http2Session, Holder>();
  let places = 0;
  let calls = 0;
  let whenCallsEnded = () => {};

  function holderOf({ session }: ServerHttp2Stream): Holder | undefined {
    if (session === undefined) return undefined;
    const holder = bySession.get(session) ?? holders.get(peerOf(session.socket));
    if (holder !== undefined) bySession.set(session, holder);
    return holder;
  }

  function onCreated(message: unknown): void {
    const { stream, headers } = message as {
      stream: ServerHttp2Stream;
      headers: IncomingHttpHeaders;
    };
    const holder = holderOf(stream);
    if (holder === undefined) return;
    renameEncoding(headers);
    const isCall = !`${headers[":path"]}`.startsWith("/grpc.");
    if (isCall) calls++;
    holder.connection.add(stream);
    // grpc-js handles the first error of a stream. Node may emit another one, which would be uncaught.
    stream.on("error", () => {});
    stream.once("close", () => {
      holder.connection.remove(stream);
      if (holder.places > 0) {
        holder.places--;
        places--;
      }
      if (isCall && --calls === 0) whenCallsEnded();
      onEnd(stream, headers);
    });
    places++;
    holder.places++;
    if (places > limits.maxStreams) closeLargest();
  }

  function closeLargest(): void {
    report("tooManyStreams");
    let largest: Holder | undefined;
    for (const holder of holders.values()) {
      if (holder.places > (largest?.places ?? 0)) largest = holder;
    }
    if (largest === undefined) return;
    places -= largest.places;
    largest.places = 0;
    largest.connection.close();
  }

  const interval = Math.min(CHECK_INTERVAL, limits.requestTimeout / 4, limits.responseTimeout / 4);
  const timer = setInterval(() => {
    for (const { connection } of holders.values()) connection.check();
  }, interval).unref();
  subscribe(CREATED, onCreated);

  return {
    follow(transport) {
      const peer = peerOf(transport);
      const holder = { connection: createConnection(transport, limits, report), places: 0 };
      holders.set(peer, holder);
      transport.once("close", () => {
        // Its client may have connected again from the same port before.
        if (holders.get(peer) === holder) holders.delete(peer);
      });
    },
    connectionOf: (peer) => holders.get(peer)?.connection,
    *unread() {
      for (const { connection } of holders.values()) if (connection.bytes > 0) yield connection;
    },
    callsEnded: () =>
      new Promise((resolve) => {
        whenCallsEnded = resolve;
        if (calls === 0) resolve();
      }),
    end() {
      for (const { connection } of holders.values()) {
        for (const stream of connection.streams.keys()) {
          stream.close(constants.NGHTTP2_REFUSED_STREAM);
        }
      }
    },
    stop() {
      clearInterval(timer);
      unsubscribe(CREATED, onCreated);
      for (const { connection } of holders.values()) connection.close();
    },
  };
}
