/**
 * The gRPC server, on grpc-js: services with unary RPCs, health and reflection. A call, in order:
 *
 * 1. `listener.ts` accepts the connection, within the limits and with the TLS of this service, waits for its
 *    preface, and hands it to grpc-js. `connection.ts` is what is known of it.
 * 2. HEADERS: Node tells `streams.ts` before grpc-js. The stream gets a place, or is refused, and
 *    `request.ts` leaves those headers that are needed, with the number of the stream.
 * 3. grpc-js reads the headers: it answers what has no method here, a wrong content type or timeout.
 * 4. DATA: `request.ts` sees it before grpc-js, and ends a request with much more than its message.
 * 5. END_STREAM: `unary-call.ts` starts the handler a turn later, if the call is still open.
 * 6. `service-definition.ts` hands it to the pipeline. If the key is accepted, its stream, by that number,
 *    keeps its place. Only now the message is decompressed and decoded.
 * 7. The response is written at once, message and status together, and is held until its client reads it
 *    (`open-stream.ts`, `src/net/unread.ts`).
 * 8. The last frame is sent: the place is free when Node has freed the stream.
 *
 * `health.ts` and `reflection.ts` come after 5, and need no key. `goaway.ts` and `stop` end connections.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import { MAX_MESSAGE_BYTES } from "../errors.ts";
import type { Addresses } from "../net/address.ts";
import type { AcceptConnection } from "../net/connection-limit.ts";
import type { UnreadSource } from "../net/unread.ts";
import type { Rpc } from "../rpc/call.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { PortTls } from "../tls/port-tls.ts";
import { addHealthService } from "./health.ts";
import { GRPC_LIMITS, type GrpcLimits } from "./limits.ts";
import { createListener } from "./listener.ts";
import { addReflection } from "./reflection.ts";
import { defineService } from "./service-definition.ts";
import { createStreams } from "./streams.ts";
import { interceptUnary } from "./unary-call.ts";

/** How long a connection that was accepted last has until its first request has come, in ms. */
const FIRST_BYTES = 500;
/** How long the frames that end the last streams have to be sent, in ms. */
const LAST_FRAMES = 50;
/** Memory of Node's HTTP/2 implementation for one connection, in MB. Messages are not in it. */
const SESSION_MEMORY = 16;

// grpc-js writes its own format to stderr. What it logs is thrown or emitted as well.
setLogVerbosity(logVerbosity.NONE);

/** Options of the server, each with its default. */
export interface GrpcOptions extends Partial<GrpcLimits> {
  /** Decides on each connection before anything is read from it; by default all are admitted. */
  readonly acceptConnection?: AcceptConnection;
  /** TLS; without it, connections are not encrypted. */
  readonly tls?: PortTls | undefined;
  /** Whether to serve reflection; on by default. */
  readonly reflection?: "on" | "off";
  /** Counts what is closed or refused because of a limit. */
  readonly report?: ReportEvent;
}

/** The gRPC server of some services. */
export interface GrpcServer {
  /** Listens on host and port (0 picks a free one), sets SERVING and resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Sets NOT_SERVING, waits up to `grace` ms for every call whose whole request has come, and closes. */
  stop(grace: number): Promise<void>;
  /** Sets the health of all services. */
  setServing(serving: boolean): void;
  /** Its streams with bytes that their clients have not read. */
  readonly unread: UnreadSource;
}

/** Creates the server of services. It does not listen yet. */
export function createGrpcServer(
  services: readonly DescService[],
  rpc: Rpc,
  addresses: Addresses,
  options: GrpcOptions = {},
): GrpcServer {
  const { acceptConnection = () => true, report = () => {}, tls } = options;
  const limits = { ...GRPC_LIMITS, ...options };
  const streams = createStreams({ limits, report });
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": limits.maxStreamsPerConnection,
    "grpc-node.max_session_memory": SESSION_MEMORY,
    "grpc.keepalive_time_ms": limits.keepalive,
    "grpc.keepalive_timeout_ms": limits.keepaliveReply,
    // Channelz keeps a record of every connection, and is not used.
    "grpc.enable_channelz": 0,
    interceptors: [interceptUnary],
  });
  for (const service of services) {
    const parts = { rpc, addresses, onAccepted: streams.accept };
    const { definition, handlers } = defineService(service, parts);
    server.addService(definition, handlers);
  }
  // "" stands for the whole server.
  const health = addHealthService(server, ["", ...services.map(({ typeName }) => typeName)]);
  // With the details of errors, which clients look up to show them.
  const files = new Set(services.map(({ file }) => file));
  const reflected = [...files, file_health_v1_health, file_google_rpc_error_details];
  if (options.reflection !== "off") addReflection(server, reflected, report);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createListener({
    acceptConnection,
    tls,
    report,
    prefaceTimeout: limits.prefaceTimeout,
    closeTimeout: limits.responseTimeout,
    onConnection: streams.follow,
    serve(socket) {
      streams.serve(socket);
      injector.injectConnection(socket);
    },
  });

  return {
    setServing: health.setServing,
    unread: streams.unread,
    async listen(host, port) {
      const bound = await listener.listen(host, port);
      health.setServing(true);
      return bound;
    },
    async stop(grace) {
      health.setServing(false);
      const graceOver = pause(grace);
      listener.stopListening();
      const announced = Promise.all([streams.announceEnd(), pause(FIRST_BYTES)]);
      await Promise.race([announced, pause(grace / 2)]);
      // A process that stood still meanwhile has not read the requests that came.
      await nextTurn();
      listener.closeIncomplete();
      // GOAWAY, and the end of connections without a call, those included that have not begun HTTP/2. grpc-js's own
      // shutdown does not wait for connections that were handed to it.
      injector.drain(grace);
      await Promise.race([streams.callsEnded(), graceOver]);
      streams.end();
      const overdue = graceOver.then(() => pause(LAST_FRAMES));
      await Promise.race([listener.closed, pause(LAST_FRAMES)]);
      streams.closeStrangers();
      await Promise.race([listener.closed, overdue]);
      streams.stop();
      await listener.closed;
    },
  };
}

/** Sleeps without keeping the process alive. */
const pause = (ms: number) => sleep(ms, undefined, { ref: false });
