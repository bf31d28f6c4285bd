/**
 * A protobuf-es service as a service of grpc-js. The deserializer passes requests through as
 * bytes. They are decoded in the call, after authentication, and a malformed one fails with
 * INVALID_ARGUMENT.
 */
import {
  create,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type StatusObject,
} from "@grpc/grpc-js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { PROVIDER_HEADER } from "../auth/provider.ts";
import { ServiceError } from "../errors.ts";
import type { Addresses } from "../net/address.ts";
import type { CallResponse, Rpc } from "../rpc/call.ts";
import { detailsOf, rpcMetadata } from "../rpc/error-details.ts";
import { memoize } from "../rpc/memoize.ts";
import { requestIdFrom } from "../rpc/request-id.ts";
import { decompress } from "./compression.ts";
import { defineMethod } from "./method-definition.ts";
import { PEER } from "./streams.ts";

/** Why a call ends that its caller cancels. Without a reason, `abort()` makes an error each time. */
const CANCELED = new ServiceError("canceled");

/** A call that is cancelled so shortly before its deadline, in ms, has met its deadline. */
const TIMER_TOLERANCE = 10;

/** What the calls of a service need. */
export interface CallParts {
  readonly rpc: Rpc;
  readonly addresses: Addresses;
}

/** The arguments of `Server.addService`: definitions and handlers, by RPC name. */
export interface GrpcService {
  readonly definition: Record<string, MethodDefinition<Buffer, Buffer>>;
  readonly handlers: Record<string, handleUnaryCall<Buffer, Buffer>>;
}

/**
 * Defines a service whose calls go through the pipeline.
 *
 * @throws Error if the service has an RPC that is not unary
 */
export function defineService(service: DescService, parts: CallParts): GrpcService {
  const methods = service.methods.map((method) => {
    if (method.methodKind !== "unary") throw new Error(`${method}: only unary RPCs are supported`);
    return method as DescMethodUnary;
  });
  const pass = (bytes: Buffer) => bytes;
  return {
    definition: Object.fromEntries(
      methods.map((method) => [method.name, defineMethod(method, pass)]),
    ),
    handlers: Object.fromEntries(methods.map((method) => [method.name, handlerOf(method, parts)])),
  };
}

function handlerOf(method: DescMethodUnary, parts: CallParts): handleUnaryCall<Buffer, Buffer> {
  const serialize = memoize((message: Message) => {
    const { buffer, byteOffset, byteLength } = toBinary(method.output, message);
    return Buffer.from(buffer, byteOffset, byteLength); // of the bytes alone, it would be a copy
  });
  return (call, callback) => {
    serve(parts, method, call).then(
      ({ message, metadata }) => callback(null, serialize(message), metadataOf(metadata)),
      callback,
    );
  };
}

/** Sends the headers of a call that succeeds. Rejects with the status of one that fails. */
async function serve(
  { rpc, addresses }: CallParts,
  method: DescMethodUnary,
  call: ServerUnaryCall<Buffer, Buffer>,
): Promise<CallResponse> {
  const requestId = requestIdFrom(values(call.metadata, "x-request-id"));
  const controller = new AbortController();
  const deadline = Number(call.getDeadline());
  let answered = false;
  call.on("cancelled", () => {
    // grpc-js emits it at the end of each call. The timers of the caller and of grpc-js may be
    // ahead: a call that is cancelled by one of them ends at its deadline.
    if (!answered && Date.now() < deadline - TIMER_TOLERANCE) controller.abort(CANCELED);
  });
  let headers: Readonly<Record<string, string>> = { "x-request-id": requestId };
  try {
    const accepted = await rpc.accept({
      method,
      protocol: "grpc",
      requestId,
      credentials: {
        xApiKey: values(call.metadata, "x-api-key"),
        authorization: values(call.metadata, "authorization"),
        xProviderId: values(call.metadata, PROVIDER_HEADER),
      },
      address: addresses.clientOf(
        values(call.metadata, PEER)[0],
        values(call.metadata, "x-forwarded-for").join(","),
      ),
      deadline,
      signal: controller.signal,
      trace: {
        traceparent: values(call.metadata, "traceparent").join() || undefined,
        tracestate: values(call.metadata, "tracestate").join() || undefined,
      },
    });
    headers = { ...headers, ...accepted.metadata };
    const response = await accepted.run(() => decode(method, call));
    // Together with the message: one write in place of two.
    call.sendMetadata(metadataOf(headers));
    return response;
  } catch (thrown) {
    throw failedStatus(ServiceError.from(thrown), headers);
  } finally {
    answered = true;
  }
}

function values(metadata: Metadata, name: string): string[] {
  return metadata.get(name).map(String);
}

function metadataOf(values: Readonly<Record<string, string | Buffer>>): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(values)) metadata.set(key, value);
  return metadata;
}

function decode(
  method: DescMethodUnary,
  { request, metadata }: ServerUnaryCall<Buffer, Buffer>,
): Message {
  try {
    return fromBinary(method.input, decompress(request, metadata));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const message = `the request is not a valid ${method.input.typeName}`;
    throw new ServiceError("invalidArgument", message, { cause });
  }
}

/**
 * The status of a call that fails. The headers are part of it (Trailers-Only), because a call whose
 * headers have arrived is not retried by gRPC itself, nor by Envoy.
 *
 * @see https://github.com/grpc/proposal/blob/master/A6-client-retries.md#when-retries-are-valid
 */
function failedStatus(
  error: ServiceError,
  headers: Readonly<Record<string, string>>,
): Partial<StatusObject> {
  const code: number = error.entry.code;
  const details = detailsOf(error).map(({ desc, value }) => anyPack(desc, create(desc, value)));
  const status = create(StatusSchema, { code, message: error.message, details });
  const metadata = metadataOf({
    ...headers,
    ...rpcMetadata(error),
    "grpc-status-details-bin": Buffer.from(toBinary(StatusSchema, status)),
  });
  return { code, details: error.message, metadata };
}
