/** The gRPC server, on grpc-js: one service with unary RPCs, health and reflection. */
import { subscribe } from "node:diagnostics_channel";
import type { ServerHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import type { Addresses } from "../net/address.ts";
import { MAX_MESSAGE_BYTES, type Rpc } from "../rpc/call.ts";
import { applyBackpressure } from "./backpressure.ts";
import { addHealthService } from "./health.ts";
import { createSessionsWith } from "./http2-sessions.ts";
import { createInFlight } from "./in-flight.ts";
import { refuseMalformed } from "./malformed-message.ts";
import { addReflection } from "./reflection.ts";
import { correctRequestHeaders, refuseMalformedTimeout } from "./request-headers.ts";
import { countReset, RESET_LIMIT } from "./reset-limit.ts";
import { defineService } from "./service-definition.ts";

/** How many streams one connection may have; further calls wait in the client. */
const MAX_STREAMS = 250;
/** When an idle connection is pinged, and how long the reply may take, in ms. */
const KEEPALIVE = { after: 60_000, timeout: 20_000 };
/** How long calls are still accepted after NOT_SERVING, so that clients can switch, in ms. */
const LAME_DUCK = 200;
/** How long streams without an end (health watches) may delay a stop, in ms. */
const STREAMS_GRACE = 500;

// grpc-js writes its own format to stderr. What it logs is thrown or emitted as well.
setLogVerbosity(logVerbosity.NONE);

createSessionsWith({
  settings: { maxConcurrentStreams: MAX_STREAMS },
  maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
  // As grpc-js sets it. With Node's limit, a session that uses more memory fails further calls.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
  // Node counts a cancelled stream as one of MAX_STREAMS until the end of its event loop turn.
  maxSessionRejectedStreams: 10_000,
  ...RESET_LIMIT,
});

// grpc-js handles the first error of a stream. Node may emit a second one, which would be uncaught.
subscribe("http2.server.stream.created", (message) => {
  const { stream } = message as { stream: ServerHttp2Stream };
  stream.on("error", () => {});
  correctRequestHeaders(stream);
  countReset(stream);
});

/** The gRPC server of one service. */
export interface GrpcServer {
  /** Listens on host and port (0 picks a free one), sets SERVING and resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Sets NOT_SERVING, accepts calls for another moment, waits up to `grace` ms for calls in
   * flight, and closes.
   */
  stop(grace: number): Promise<void>;
}

/** Creates the server of a service. It does not listen yet. */
export function createGrpcServer(service: DescService, rpc: Rpc, addresses: Addresses): GrpcServer {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.keepalive_time_ms": KEEPALIVE.after,
    "grpc.keepalive_timeout_ms": KEEPALIVE.timeout,
    // Channelz keeps a record of every connection, and is not used.
    "grpc.enable_channelz": 0,
    interceptors: [refuseMalformedTimeout, refuseMalformed, applyBackpressure],
  });
  const inFlight = createInFlight();
  const { definition, handlers } = defineService(service, rpc, addresses, inFlight);
  server.addService(definition, handlers);
  // "" stands for the whole server.
  const health = addHealthService(server, ["", service.typeName]);
  addReflection(server, [service.file, file_health_v1_health]);

  return {
    async listen(host, port) {
      const bound = await new Promise<number>((resolve, reject) => {
        const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
        server.bindAsync(address, ServerCredentials.createInsecure(), (error, actual) =>
          error
            ? reject(new Error(`gRPC cannot listen on ${address}: ${error.message}`))
            : resolve(actual),
        );
      });
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
      server.forceShutdown();
    },
  };
}

/** Sleeps without keeping the process alive. */
function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
