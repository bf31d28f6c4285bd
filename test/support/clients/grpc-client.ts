/** The gRPC door with grpc-js, the client that Node programs use. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type CallOptions,
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { RpcRequest } from "../request.ts";
import { type Head, methodOf, type Outcome, type RpcClient, requestOf, shown } from "./client.ts";

/** A grpc-js client's channel to an address. Never shares a connection with another. */
export function grpcClient(address: string, options: ClientOptions = {}): Client {
  return new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    ...options,
  });
}

export function createGrpcClient(address: string): RpcClient {
  const client = grpcClient(address);
  return {
    name: "gRPC, grpc-js",
    protocol: "grpc",
    call: (question) => callGrpc(client, question),
    close: () => client.close(),
  };
}

/** Makes one call on a channel. */
export function callGrpc(client: Client, question: RpcRequest): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const method = methodOf(question.method);
  const metadata = new Metadata();
  for (const [name, value] of question.headers ?? []) metadata.add(name, value);
  const options: CallOptions =
    question.timeout === undefined ? {} : { deadline: Date.now() + question.timeout };
  let head: Head = {};
  const call = client.makeUnaryRequest(
    `/${method.parent.typeName}/${method.name}`,
    (message: ReturnType<typeof requestOf>) => Buffer.from(toBinary(method.input, message)),
    (bytes) => fromBinary(method.output, bytes),
    requestOf(question),
    metadata,
    options,
    (error, message) => {
      if (error !== null || message === undefined) resolve(refusal(error, head));
      else resolve({ answer: shown(method.output, message), head });
    },
  );
  call.on("metadata", (initial) => {
    head = { ...head, ...headOf(initial) };
  });
  question.signal?.addEventListener("abort", () => call.cancel(), { once: true });
  return promise;
}

function refusal(error: ServiceError | null, head: Head): Outcome {
  return {
    code: error === null ? "no message" : (status[error.code] ?? `${error.code}`),
    message: error?.details ?? "",
    head: { ...head, ...(error ? headOf(error.metadata) : {}) },
  };
}

function headOf(metadata: Metadata): Head {
  return Object.fromEntries(Object.entries(metadata.getMap()).map(([k, v]) => [k, `${v}`]));
}
