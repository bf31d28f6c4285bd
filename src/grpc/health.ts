/**
 * The standard health service (grpc.health.v1): one status for a fixed set of services. Cancelled
 * watches take no memory.
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/health-checking.md
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  type HealthListResponse,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/health/v1/health_pb.ts";
import { decompress } from "./request.ts";

/** The health of a server, NOT_SERVING at first. */
export interface HealthService {
  /** Sets the status of all services and sends it to every watcher. */
  setServing(serving: boolean): void;
}

/**
 * How many watches there may be. They have no end, and count among the open streams of the port: more
 * would take the places of calls. A client that is told UNIMPLEMENTED does without health checking.
 */
export const MAX_WATCHES = 1_000;

type Unary = ServerUnaryCall<Buffer, unknown>;
type Watch = ServerWritableStream<Buffer, HealthCheckResponse>;

/**
 * Adds the health service to a server.
 *
 * @param names the services that it reports on; "" stands for the whole server
 */
export function addHealthService(server: Server, names: readonly string[]): HealthService {
  /** The open watches, by whether they are of a known name. */
  const watches = new Map<Watch, boolean>();
  let current: ServingStatus = ServingStatus.NOT_SERVING;
  const response = () => create(HealthCheckResponseSchema, { status: current });

  const handlers: UntypedServiceImplementation = {
    check(call: Unary, callback: sendUnaryData<HealthCheckResponse>) {
      const request = parse(call);
      if (request === undefined) callback(MALFORMED);
      else if (names.includes(request.service)) callback(null, response());
      else callback({ code: status.NOT_FOUND, details: "unknown service" });
    },
    watch(call: Watch) {
      const request = parse(call);
      if (request === undefined) {
        call.emit("error", MALFORMED);
        return;
      }
      if (watches.size >= MAX_WATCHES) {
        call.emit("error", TOO_MANY);
        return;
      }
      const isKnown = names.includes(request.service);
      watches.set(call, isKnown);
      call.once("cancelled", () => watches.delete(call));
      // The set of names is fixed, so this status never changes.
      const unknown = { status: ServingStatus.SERVICE_UNKNOWN };
      call.write(isKnown ? response() : create(HealthCheckResponseSchema, unknown));
    },
    list(_call: Unary, callback: sendUnaryData<HealthListResponse>) {
      const statuses = Object.fromEntries(names.map((name) => [name, response()]));
      callback(null, create(HealthListResponseSchema, { statuses }));
    },
  };
  server.addService(definition, handlers);

  return {
    setServing(serving) {
      const next = serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
      if (next === current) return;
      current = next;
      for (const [watch, isKnown] of watches) if (isKnown) watch.write(response());
    },
  };
}

const TOO_MANY = {
  code: status.UNIMPLEMENTED,
  details: `there are ${MAX_WATCHES} watches already`,
};

const MALFORMED = {
  code: status.INVALID_ARGUMENT,
  details: `the request is not a valid ${HealthCheckRequestSchema.typeName}`,
};

function parse({ request, metadata }: Unary | Watch): HealthCheckRequest | undefined {
  try {
    return fromBinary(HealthCheckRequestSchema, decompress(request, metadata));
  } catch {
    return undefined;
  }
}

/** The handlers decode requests: grpc-js would answer INTERNAL to one that is malformed. */
const definition: ServiceDefinition = {
  check: define("Check", HealthCheckResponseSchema, false),
  watch: define("Watch", HealthCheckResponseSchema, true),
  list: define("List", HealthListResponseSchema, false),
};

function define<O extends DescMessage>(name: string, output: O, responseStream: boolean) {
  return {
    path: `/${Health.typeName}/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (message: MessageShape<O>) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
  };
}
