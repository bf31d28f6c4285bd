/**
 * The gRPC server, on grpc-js: services with unary RPCs, health and reflection. A call, in order:
 *
 * 1. `listener.ts` accepts the connection, and hands it to grpc-js.
 * 2. HEADERS: Node tells `streams.ts`, which leaves those that are needed.
 * 3. grpc-js reads them, and the message: it answers what has no method here, and what is no gRPC.
 * 4. `service-definition.ts` hands the call to the pipeline. The message is decoded once its key is accepted.
 * 5. The response is written at once, and is held until its client reads it (`src/net/unread.ts`).
 *
 * `health.ts` and `reflection.ts` come after 3, and need no key.
 */

import type { Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.ts";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import { MAX_MESSAGE_BYTES } from "../errors.ts";
import type { Addresses } from "../net/address.ts";
import type { UnreadSource } from "../net/unread.ts";
import type { Rpc } from "../rpc/call.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { PortTls } from "../tls/port-tls.ts";
import { addHealthService } from "./health.ts";
import { GRPC_LIMITS, type GrpcLimits } from "./limits.ts";
import { createListener } from "./listener.ts";
import { addReflection } from "./reflection.ts";
import { defineService } from "./service-definition.ts";
import { followStreams } from "./streams.ts";

/** How long clients have to read the first GOAWAY, and one that has just connected to send a request, in ms. */
const FIRST_GOAWAY_TIME = 500;
/** How long the frames that end the last calls have to be sent, in ms. */
const LAST_FRAMES = 50;
/** Memory of Node's HTTP/2 implementation for one connection, in MB. Messages are not in it. */
const SESSION_MEMORY = 16;

// grpc-js writes its own format to stderr. What it logs is thrown or emitted as well.
setLogVerbosity(logVerbosity.NONE);

/** Options of the server, each with its default. */
export interface GrpcOptions extends Partial<GrpcLimits> {
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
  /** Sets NOT_SERVING, waits up to `grace` ms for every stream but watches, and closes. */
  stop(grace: number): Promise<void>;
  /** Sets the health of all services. */
  setServing(serving: boolean): void;
  /** Its connections with bytes that their clients have not read. */
  readonly unread: UnreadSource;
  /** How many connections and streams are open. */
  open(): { readonly connections: number; readonly streams: number };
}

/** Creates the server of services. It does not listen yet. */
export function createGrpcServer(
  services: readonly DescService[],
  rpc: Rpc,
  addresses: Addresses,
  options: GrpcOptions = {},
): GrpcServer {
  const { report = () => {}, tls } = options;
  const limits = { ...GRPC_LIMITS, ...options };
  const age = limits.maxConnectionAge;
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_concurrent_streams": limits.maxStreamsPerConnection,
    "grpc-node.max_session_memory": SESSION_MEMORY,
    "grpc.keepalive_time_ms": limits.keepalive,
    "grpc.keepalive_timeout_ms": limits.keepaliveReply,
    // Channelz keeps a record of every connection, and is not used.
    "grpc.enable_channelz": 0,
    // Give or take a tenth, and after the first GOAWAY, which is sent at that age at the latest.
    ...(age > 0 && { "grpc.max_connection_age_ms": (age + FIRST_GOAWAY_TIME) / 0.9 }),
  });
  for (const service of services) {
    const { definition, handlers } = defineService(service, { rpc, addresses });
    server.addService(definition, handlers);
  }
  // "" stands for the whole server.
  const health = addHealthService(server, ["", ...services.map(({ typeName }) => typeName)]);
  // With the details of errors, which clients look up to show them.
  const files = new Set(services.map(({ file }) => file));
  const reflected = [...files, file_health_v1_health, file_google_rpc_error_details];
  if (options.reflection !== "off") addReflection(server, reflected);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const serve = (socket: Socket) => injector.injectConnection(socket);
  const listener = createListener({ limits, tls, report, serve });
  const streams = followStreams(report, listener.connectionOf);

  return {
    setServing: health.setServing,
    unread: streams.unread,
    open: () => ({ connections: listener.connections, streams: streams.size }),
    async listen(host, port) {
      streams.start();
      const bound = await listener.listen(host, port);
      health.setServing(true);
      return bound;
    },
    async stop(grace) {
      health.setServing(false);
      listener.announceEnd();
      const announced = Math.min(FIRST_GOAWAY_TIME, grace / 2);
      await pause(announced);
      // A process that stood still meanwhile has not read the requests that came.
      await nextTurn();
      listener.closeIncomplete();
      health.end();
      // grpc-js's own shutdown does not wait for connections that were handed to it. At the end it cancels calls.
      injector.drain(grace - announced);
      await Promise.race([listener.closed, pause(grace - announced + LAST_FRAMES)]);
      listener.destroy();
      await listener.closed;
      streams.stop();
    },
  };
}

/** Sleeps without keeping the process alive. */
const pause = (ms: number) => sleep(ms, undefined, { ref: false });
