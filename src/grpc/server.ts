/** The gRPC server, on grpc-js: one service with unary RPCs, health and reflection. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import type { Addresses } from "../net/address.ts";
import type { AcceptConnection } from "../net/connection-limit.ts";
import type { UnreadSource } from "../net/unread.ts";
import { MAX_MESSAGE_BYTES, type Rpc } from "../rpc/call.ts";
import type { Termination } from "../tls/termination.ts";
import { applyBackpressure } from "./backpressure.ts";
import { addHealthService, MAX_WATCHES } from "./health.ts";
import { createInFlight } from "./in-flight.ts";
import { forRequestStreams, sendStatusAtOnce } from "./interceptors.ts";
import { refuseMalformed } from "./messages/malformed-message.ts";
import { addReflection } from "./reflection.ts";
import { limitReflection } from "./reflection-limit.ts";
import { logRejection, type RejectionLog } from "./rejection.ts";
import { defineService } from "./service-definition.ts";
import { createSessions } from "./sessions/http2-sessions.ts";
import { SESSION_LIMITS, type SessionLimits } from "./sessions/limits.ts";

/** The defaults of `keepalive` and `keepaliveReply`. */
export const KEEPALIVE = { keepalive: 60_000, keepaliveReply: 20_000 };
/** How long calls are still accepted after NOT_SERVING, so that clients can switch, in ms. */
const LAME_DUCK = 200;
/** How long streams without an end (health watches) may delay a stop, in ms. */
const STREAMS_GRACE = 500;

// grpc-js writes its own format to stderr. What it logs is thrown or emitted as well.
setLogVerbosity(logVerbosity.NONE);

/** Options of the server, each with its default. */
export interface GrpcOptions extends Partial<SessionLimits> {
  /** Decides on each connection before anything is read from it; by default all are admitted. */
  readonly admitConnection?: AcceptConnection;
  /** TLS; without it, connections are not encrypted. */
  readonly tls?: Termination | undefined;
  /** After how long without traffic a connection is pinged, in ms. */
  readonly keepalive?: number;
  /** How long the reply may take, in ms. */
  readonly keepaliveReply?: number;
  /** The age at which a connection is closed gracefully, in ms; 0, the default, for none. Its calls are finished. */
  readonly maxConnectionAge?: number;
  /** Open health watches. */
  readonly maxWatches?: number;
  /** Whether to serve reflection; on by default. */
  readonly reflection?: "on" | "off";
  /** Open reflection streams. */
  readonly maxReflections?: number;
  /** Reflection questions per second. */
  readonly maxReflectionQuestions?: number;
  /** Logs requests that do not become a call; by default they are not logged. */
  readonly log?: RejectionLog;
  /** Counts what is closed or refused because of a limit. */
  readonly report?: (event: string) => void;
}

/** The gRPC server of one service. */
export interface GrpcServer {
  /** Listens on host and port (0 picks a free one), sets SERVING and resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Sets NOT_SERVING, accepts calls for another moment, waits up to `grace` ms for calls in
   * flight, and closes.
   */
  stop(grace: number): Promise<void>;
  /** Sets the health of all services. */
  setServing(serving: boolean): void;
  /** Its connections with bytes that their clients have not read. */
  readonly unread: UnreadSource;
}

/** Creates the server of a service. It does not listen yet. */
export function createGrpcServer(
  service: DescService,
  rpc: Rpc,
  addresses: Addresses,
  options: GrpcOptions = {},
): GrpcServer {
  const { admitConnection = () => true, report = () => {} } = options;
  const { tls, maxConnectionAge } = options;
  const { keepalive, keepaliveReply } = { ...KEEPALIVE, ...options };
  const limits = { ...SESSION_LIMITS, ...options };
  const sessions = createSessions({
    limits,
    admitConnection,
    report,
    tls,
    onEnd: (stream, headers) => options.log && logRejection(options.log, stream, headers),
  });
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.keepalive_time_ms": keepalive,
    "grpc.keepalive_timeout_ms": keepaliveReply,
    ...(maxConnectionAge && { "grpc.max_connection_age_ms": maxConnectionAge }),
    // Channelz keeps a record of every connection, and is not used.
    "grpc.enable_channelz": 0,
    interceptors: [
      ...[limitReflection({ ...options, report }), refuseMalformed, applyBackpressure].map(
        forRequestStreams,
      ),
      sendStatusAtOnce,
    ],
  });
  const inFlight = createInFlight();
  const { definition, handlers } = defineService(service, rpc, addresses, inFlight);
  server.addService(definition, handlers);
  // "" stands for the whole server.
  const { maxWatches = MAX_WATCHES } = options;
  const health = addHealthService(server, ["", service.typeName], { maxWatches, report });
  if (options.reflection !== "off") addReflection(server, [service.file, file_health_v1_health]);

  return {
    setServing: health.setServing,
    unread: sessions.unread,
    async listen(host, port) {
      const bound = await sessions.during(() => bind(server, host, port));
      health.setServing(true);
      return bound;
    },
    async stop(grace) {
      health.setServing(false);
      await pause(LAME_DUCK);
      const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.race([
        drained,
        pause(grace),
        inFlight.idle().then(() => Promise.race([drained, pause(STREAMS_GRACE)])),
      ]);
      sessions.destroy();
      server.forceShutdown();
    },
  };
}

/** @throws Error that names the address if it cannot be listened on */
function bind(server: Server, host: string, port: number): Promise<number> {
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(address, ServerCredentials.createInsecure(), (error, actual) => {
    if (error) reject(new Error(`gRPC cannot listen on ${address}: ${error.message}`));
    else resolve(actual);
  });
  return promise;
}

/** Sleeps without keeping the process alive. */
function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
