/**
 * The gRPC server: RevenueService or any other unary service, health and reflection,
 * on grpc-js.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ServerHttp2Stream } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from "@grpc/grpc-js";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import type { Rpc } from "../rpc/call.ts";
import { applyBackpressure } from "./backpressure.ts";
import { addHealthService } from "./health.ts";
import { createInFlight } from "./in-flight.ts";
import { refuseMalformed } from "./malformed-message.ts";
import { addReflection } from "./reflection.ts";
import { defineService } from "./service-definition.ts";

/** The largest request taken, in bytes; ours are some dozens. */
const LARGEST_REQUEST = 64 * 1024;
/** How many calls may be under way on one connection; a client's further ones wait at the client. */
const MAX_STREAMS = 250;
/** How long a connection may be silent before it is asked whether it lives, and then answer, in ms. */
const KEEPALIVE = { after: 60_000, timeout: 20_000 };
/** How long calls are still taken after NOT_SERVING was said, so that clients can move away, in ms. */
const LAME_DUCK = 200;
/** How long streams that never end by themselves (health watches) may hold up a stop, in ms. */
const WATCHERS_GRACE = 500;

// grpc-js would write lines of its own between the log's; what matters is thrown as well.
setLogVerbosity(logVerbosity.NONE);

// An error on a stream ends that stream. grpc-js takes the first one of each; Node may emit another.
subscribe("http2.server.stream.created", (message) => {
  (message as { stream: ServerHttp2Stream }).stream.on("error", () => {});
});

export interface GrpcServer {
  /** Listens on host and port (0 picks one) and resolves to the port; from then on it is SERVING. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Says NOT_SERVING for a moment while calls are still taken, then takes no new ones, lets
   * those under way finish, for `grace` ms at most, and closes.
   */
  stop(grace: number): Promise<void>;
}

/** Makes the server of a service; nothing listens yet. */
export function createGrpcServer(service: DescService, rpc: Rpc): GrpcServer {
  const server = new Server({
    "grpc.max_receive_message_length": LARGEST_REQUEST,
    "grpc.keepalive_time_ms": KEEPALIVE.after,
    "grpc.keepalive_timeout_ms": KEEPALIVE.timeout,
    "grpc.max_concurrent_streams": MAX_STREAMS,
    // Nothing reads channelz here, and it keeps a record for every connection.
    "grpc.enable_channelz": 0,
    interceptors: [refuseMalformed, applyBackpressure],
  });
  const inFlight = createInFlight();
  const { definition, handlers } = defineService(service, rpc, inFlight);
  server.addService(definition, handlers);
  // The empty name stands for the server as a whole.
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
      await sleep(LAME_DUCK);
      const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.race([
        drained,
        sleep(grace),
        inFlight.idle().then(() => Promise.race([drained, sleep(WATCHERS_GRACE)])),
      ]);
      server.forceShutdown();
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
