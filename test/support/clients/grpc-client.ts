/** grpc-js, the gRPC client that Node programs use. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type CallOptions,
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  status,
} from "@grpc/grpc-js";
import type { RpcRequest } from "../request.ts";
import {
  methodOf,
  type Outcome,
  type ResponseHeaders,
  type RpcClient,
  requestMessage,
  responseJson,
} from "./client.ts";

/** A grpc-js channel to an address. It shares no connection with another channel. */
export function grpcClient(address: string, options: ClientOptions = {}): Client {
  return new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    ...options,
  });
}

/** The gRPC client of a gRPC port. */
export function createGrpcClient(address: string): RpcClient {
  const client = grpcClient(address);
  return {
    name: "gRPC, grpc-js",
    protocol: "grpc",
    call: (request) => callGrpc(client, request),
    close: () => client.close(),
  };
}

/** Makes one call on a channel. */
export function callGrpc(client: Client, request: RpcRequest): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const method = methodOf(request.method);
  const metadata = new Metadata();
  for (const [name, value] of request.headers ?? []) metadata.add(name, value);
  const options: CallOptions =
    request.timeout === undefined ? {} : { deadline: Date.now() + request.timeout };
  let headers: ResponseHeaders = {};
  const call = client.makeUnaryRequest(
    `/${method.parent.typeName}/${method.name}`,
    (message: ReturnType<typeof requestMessage>) => Buffer.from(toBinary(method.input, message)),
    (bytes) => fromBinary(method.output, bytes),
    requestMessage(request),
    metadata,
    options,
    (error, message) => {
      // Emitted after this, with the trailers.
      call.on("status", ({ code, details, metadata }) => {
        const all = { ...headers, ...headersOf(metadata) };
        if (error === null && message !== undefined) {
          resolve({ response: responseJson(method.output, message), headers: all });
        } else resolve({ code: status[code] ?? `${code}`, message: details, headers: all });
      });
    },
  );
  call.on("metadata", (initial) => {
    headers = { ...headers, ...headersOf(initial) };
  });
  request.signal?.addEventListener("abort", () => call.cancel(), { once: true });
  return promise;
}

function headersOf(metadata: Metadata): ResponseHeaders {
  return Object.fromEntries(Object.entries(metadata.getMap()).map(([k, v]) => [k, `${v}`]));
}
