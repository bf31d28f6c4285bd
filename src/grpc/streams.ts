/**
 * The open streams of the gRPC port. grpc-js does not tell of streams that it refuses, nor of those that
 * stay open after their status. Node does, on a diagnostics channel.
 *
 * A stream has one of a number of places from its first frame until its last one is sent. If there are none,
 * one without a claim gives up its own: whose key was not accepted, first on connections where none ever was.
 * Of these, the one in the middle of the order in which they came: so neither the clients that have long been
 * there nor the one whose key is looked up at this moment, however many others come, and from wherever.
 *
 * @see https://nodejs.org/api/diagnostics_channel.html#http2
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { connectionId } from "../net/address.ts";
import type { UnreadSource } from "../net/unread.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { GrpcLimits } from "./limits.ts";
import { OpenStream } from "./open-stream.ts";
import { reduceHeaders, watchMessage } from "./request.ts";

const CREATED = "http2.server.stream.created";
/** How often streams are checked for slow clients, in ms. */
const CHECK_INTERVAL = 2_000;
/** The part of all places that is made free at once: to find whose takes longer than a call. */
const ROOM = 1 / 20;
/**
 * How many streams of a connection are refused in a flood, without a key that is accepted, before it is
 * closed. What a connection has sent is handed over in one turn of the event loop, and freed in the next: a
 * thousand connections with a hundred requests each would end the process.
 */
const MAX_REFUSED = 20;

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
  /** The key of a call was accepted. */
  accept(stream: string): void;
  /** Asks all clients to open no further stream. Resolves when they must have read that. */
  announceEnd(): Promise<void>;
  /** The streams with response bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** Resolves when no call is open that holds a stop. Others need not end. */
  callsEnded(): Promise<void>;
  /** Ends all streams; their clients see UNAVAILABLE. */
  end(): void;
  /** Closes the connections on which no key was accepted. */
  closeStrangers(): void;
  /** Closes all connections, and follows no further ones. */
  stop(): void;
}

/** Begins to follow streams. */
export function createStreams({ limits, report }: StreamsParts): Streams {
  /** By their ends. */
  const connections = new Map<string, Connection>();
  /** By their numbers, in the order in which they came, until Node has freed them. */
  const open = new Map<string, OpenStream>();
  /** How many of them have a place: those that were refused have none. */
  let places = 0;
  let count = 0;
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
    connection.session = stream.session as ServerHttp2Session;
    const number = `${count++}`;
    const hasPlace = makeRoom();
    const added = new OpenStream(stream, connection);
    open.set(number, added);
    places++;
    stream.once("close", () => {
      if (added.hasPlace) places--;
      // Node frees it when the event loop turns.
      setImmediate(forget, number);
    });
    if (!hasPlace) {
      refuseNew(added, headers);
      return;
    }
    reduceHeaders(headers, number);
    // Reflection is the one service whose requests are streams.
    if (!headers[":path"]?.startsWith("/grpc.reflection.")) {
      watchMessage(stream, () => report("tooManyMessages"));
    }
  }

  function forget(number: string): void {
    open.delete(number);
    whenCallsEnded();
  }

  const isFlooded = () => open.size >= 2 * limits.maxStreams;

  /** Makes room for a stream, if that is necessary and possible. */
  function makeRoom(): boolean {
    if (isFlooded()) return false;
    if (places < limits.maxStreams) return true;
    const all = [...open.values()].filter(({ isPublic, isEnded }) => isPublic && !isEnded);
    const strangers = all.filter(({ connection }) => !connection.isKnown);
    const candidates = strangers.length > 0 ? strangers : all;
    const losers = candidates.splice(candidates.length >> 1, Math.ceil(limits.maxStreams * ROOM));
    losers.forEach(refuse);
    return losers.length > 0;
  }

  function refuse(stream: OpenStream): void {
    report("tooManyStreams");
    stream.hasPlace = false;
    places--;
    stream.end(constants.NGHTTP2_REFUSED_STREAM);
  }

  /** Refuses a stream that grpc-js has not seen. */
  function refuseNew(added: OpenStream, headers: IncomingHttpHeaders): void {
    // Without a content type, grpc-js answers at once, which is before the microtask, and keeps nothing.
    for (const name of Object.keys(headers)) delete headers[name];
    queueMicrotask(() => {
      refuse(added);
      if (isFlooded() && ++added.connection.refused > MAX_REFUSED) added.connection.close();
    });
  }

  const times = [limits.requestTimeout, limits.responseTimeout, limits.maxConnectionAge];
  const interval = Math.min(CHECK_INTERVAL, ...times.map((time) => time / 4));
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.values()) connection.check(now);
    for (const stream of open.values()) stream.check(now, limits, report);
    whenCallsEnded();
  }, interval).unref();
  subscribe(CREATED, onCreated);

  return {
    follow(transport) {
      const ends = connectionId(transport);
      const connection = createConnection(transport, limits.maxConnectionAge);
      connections.set(ends, connection);
      transport.once("close", () => {
        // Its client may have connected again from the same port before.
        if (connections.get(ends) === connection) connections.delete(ends);
      });
    },
    serve: (socket) => connections.get(connectionId(socket))?.serve(socket),
    accept: (number) => open.get(number)?.accept(),
    async announceEnd() {
      await Promise.all([...connections.values()].map((connection) => connection.announceEnd()));
    },
    *unread() {
      for (const stream of open.values()) if (stream.bytes > 0) yield stream;
    },
    callsEnded: () =>
      new Promise((resolve) => {
        whenCallsEnded = () => {
          if (![...open.values()].some(({ holdsStop }) => holdsStop)) resolve();
        };
        whenCallsEnded();
      }),
    end() {
      for (const stream of open.values()) stream.end(constants.NGHTTP2_REFUSED_STREAM);
    },
    closeStrangers() {
      for (const connection of connections.values()) if (!connection.isKnown) connection.close();
    },
    stop() {
      clearInterval(timer);
      unsubscribe(CREATED, onCreated);
      for (const connection of connections.values()) connection.close();
    },
  };
}
