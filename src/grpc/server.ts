/**
 * The gRPC server: RevenueService or any other unary service, health and reflection,
 * on grpc-js.
 */
import type { DescService } from "@bufbuild/protobuf";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import { file_health_v1_health } from "../../gen/health/v1/health_pb.ts";
import type { Rpc } from "../rpc/call.ts";
import { countInFlight } from "./in-flight.ts";
import { createReflection } from "./reflection.ts";
import { defineService } from "./service-definition.ts";

/** The largest request taken, in bytes; ours are some dozens. */
const LARGEST_REQUEST = 64 * 1024;
/** How long a connection may be silent before it is asked whether it lives, and then answer, in ms. */
const KEEPALIVE = { after: 60_000, timeout: 20_000 };
/** How long streams that never end by themselves (health watches) may hold up a stop, in ms. */
const WATCHERS_GRACE = 500;

export interface GrpcServer {
  /** Listens on host and port (0 picks one) and resolves to the port; from then on it is SERVING. */
  listen(host: string, port: number): Promise<number>;
  /** Says NOT_SERVING to whoever asks, while calls are still answered. */
  announceStop(): void;
  /** Takes no new call, lets those under way finish, for `grace` ms at most, and closes. */
  stop(grace: number): Promise<void>;
}

/** Makes the server of a service; nothing listens yet. */
export function createGrpcServer(service: DescService, rpc: Rpc): GrpcServer {
  const server = new Server({
    "grpc.max_receive_message_length": LARGEST_REQUEST,
    "grpc.keepalive_time_ms": KEEPALIVE.after,
    "grpc.keepalive_timeout_ms": KEEPALIVE.timeout,
  });
  const inFlight = countInFlight(rpc);
  const { definition, handlers } = defineService(service, inFlight.rpc);
  server.addService(definition, handlers);
  // The empty name stands for the server as a whole.
  const names = ["", service.typeName];
  const health = new HealthImplementation();
  const setHealth = (status: "SERVING" | "NOT_SERVING") => {
    for (const name of names) health.setStatus(name, status);
  };
  setHealth("NOT_SERVING");
  health.addToServer(server);
  createReflection([service.file, file_health_v1_health]).addToServer(server);

  return {
    async listen(host, port) {
      const bound = await new Promise<number>((resolve, reject) => {
        const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
        server.bindAsync(address, ServerCredentials.createInsecure(), (error, actual) =>
          error ? reject(error) : resolve(actual),
        );
      });
      setHealth("SERVING");
      return bound;
    },
    announceStop() {
      setHealth("NOT_SERVING");
    },
    async stop(grace) {
      setHealth("NOT_SERVING");
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
