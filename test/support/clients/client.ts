/** A client of the service: one way to call it, whatever the protocol. */
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { METHODS } from "../../../src/services.ts";
import type { RpcRequest } from "../request.ts";

/** Response headers and trailers, or metadata, by lower-case name. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * The response or the error of a call. A response is in protobuf's JSON with every field (amounts
 * as `{"value": "4500.00"}`). An error has gRPC's code and message; from REST its code is the HTTP
 * status and its message is the body.
 */
export type Outcome =
  | { readonly response: JsonValue; readonly headers: ResponseHeaders }
  | { readonly code: string; readonly message: string; readonly headers: ResponseHeaders };

/** A client of one protocol, connected to one service. */
export interface RpcClient {
  readonly name: string;
  /** The protocol's name in the service's log. */
  readonly protocol: "rest" | "connect" | "grpc-web" | "grpc";
  /** Makes a call. Rejects if the service sends neither a response nor an error. */
  call(request: RpcRequest): Promise<Outcome>;
  close(): void;
}

/** The descriptor of an RPC. */
export function methodOf(name: RpcRequest["method"]): DescMethodUnary {
  const methods: readonly DescMethodUnary[] = Object.values(METHODS);
  const method = methods.find((candidate) => candidate.name === name);
  if (method === undefined) throw new Error(`the contract has no ${name}`);
  return method;
}

/** The request message of a call. */
export function requestMessage({ method, message = {} }: RpcRequest): MessageShape<DescMessage> {
  return create(methodOf(method).input, message);
}

/** A response message in the JSON of `Outcome`. */
export function responseJson(schema: DescMessage, message: MessageShape<DescMessage>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** An outcome without its headers. */
export function withoutHeaders({ headers: _, ...outcome }: Outcome) {
  return outcome;
}
