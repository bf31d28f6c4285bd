/**
 * The standard health service (grpc.health.v1): one status for a fixed set of services. grpc-health-check
 * keeps every name that a client ever watched.
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/health-checking.md
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/health/v1/health_pb.ts";
import { defineMethod } from "./method-definition.ts";

/** The health of a server, NOT_SERVING at first. */
export interface HealthService {
  /** Sets the status of all services and sends it to every watcher. */
  setServing(serving: boolean): void;
  /** Ends all watches: they would not end by themselves. */
  end(): void;
}

type Watch = ServerWritableStream<HealthCheckRequest, Buffer>;

/**
 * Adds the health service to a server.
 *
 * @param names the services that it reports on; "" stands for the whole server
 */
export function addHealthService(server: Server, names: readonly string[]): HealthService {
  const watches = new Set<Watch>();
  let current = NOT_SERVING;
  const isKnown = ({ service }: HealthCheckRequest) => names.includes(service);

  server.addService(
    {
      check: defineMethod(Health.method.check, decode),
      watch: defineMethod(Health.method.watch, decode),
    },
    {
      check(
        { request }: ServerUnaryCall<HealthCheckRequest, Buffer>,
        callback: sendUnaryData<Buffer>,
      ) {
        if (isKnown(request)) callback(null, current);
        else callback({ code: status.NOT_FOUND, details: "unknown service" });
      },
      watch(call: Watch) {
        watches.add(call);
        call.once("close", () => watches.delete(call));
        // The set of names is fixed, so one that is not known stays so.
        call.write(isKnown(call.request) ? current : UNKNOWN);
      },
    },
  );

  return {
    setServing(serving) {
      const next = serving ? SERVING : NOT_SERVING;
      if (next === current) return;
      current = next;
      for (const watch of watches) if (isKnown(watch.request)) watch.write(current);
    },
    end() {
      const stopping = { code: status.UNAVAILABLE, details: "the service is stopping" };
      for (const watch of watches) watch.emit("error", stopping);
    },
  };
}

const decode = (bytes: Buffer) => fromBinary(HealthCheckRequestSchema, bytes);
const responseOf = (status: ServingStatus) =>
  Buffer.from(toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status })));
const SERVING = responseOf(ServingStatus.SERVING);
const NOT_SERVING = responseOf(ServingStatus.NOT_SERVING);
const UNKNOWN = responseOf(ServingStatus.SERVICE_UNKNOWN);
