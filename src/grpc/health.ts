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
  HealthListResponseSchema,
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
  /** The open watches, also of names that are not known. */
  const watches = new Set<Watch>();
  let current = responsesOf(ServingStatus.NOT_SERVING, names);
  const responseTo = ({ request }: Watch) =>
    names.includes(request.service) ? current.one : UNKNOWN.one;

  server.addService(
    {
      check: defineMethod(Health.method.check, decode),
      watch: defineMethod(Health.method.watch, decode),
      list: defineMethod(Health.method.list, () => ({})),
    },
    {
      check(call: ServerUnaryCall<HealthCheckRequest, Buffer>, callback: sendUnaryData<Buffer>) {
        if (names.includes(call.request.service)) callback(null, current.one);
        else callback({ code: status.NOT_FOUND, details: "unknown service" });
      },
      watch(call: Watch) {
        watches.add(call);
        call.once("close", () => watches.delete(call));
        call.write(responseTo(call));
      },
      list: (_call: unknown, callback: sendUnaryData<Buffer>) => callback(null, current.all),
    },
  );

  return {
    setServing(serving) {
      const next = serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
      if (next === current.status) return;
      current = responsesOf(next, names);
      for (const watch of watches) {
        if (names.includes(watch.request.service)) watch.write(current.one);
      }
    },
    end() {
      const stopping = { code: status.UNAVAILABLE, details: "the service is stopping" };
      for (const watch of watches) watch.emit("error", stopping);
    },
  };
}

const decode = (bytes: Buffer) => fromBinary(HealthCheckRequestSchema, bytes);

/** The responses with a status, made once. */
function responsesOf(status: ServingStatus, names: readonly string[]) {
  const response = create(HealthCheckResponseSchema, { status });
  const statuses = Object.fromEntries(names.map((name) => [name, response]));
  const list = create(HealthListResponseSchema, { statuses });
  return {
    status,
    one: Buffer.from(toBinary(HealthCheckResponseSchema, response)),
    all: Buffer.from(toBinary(HealthListResponseSchema, list)),
  };
}

/** The set of names is fixed, so this status never changes. */
const UNKNOWN = responsesOf(ServingStatus.SERVICE_UNKNOWN, []);
