/** The clients of the service seen from outside: one way to call, whatever the protocol. */
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { type MethodName, methods, type RpcRequest } from "../request.ts";

export type { RpcRequest } from "../request.ts";

/** Headers, or metadata, by lower-case name. */
export type Head = Readonly<Record<string, string>>;

/**
 * What came of a call. An answer is in protobuf's JSON with every field (amounts as
 * `{"value": "4500.00"}`). A refusal is told by code and message; REST's code is the HTTP
 * status, and its message the body as it came.
 */
export type Outcome =
  | { readonly answer: JsonValue; readonly head: Head }
  | { readonly code: string; readonly message: string; readonly head: Head };

/** A client of one protocol, to one service. */
export interface RpcClient {
  readonly name: string;
  /** What the service's log calls it. */
  readonly protocol: "rest" | "connect" | "grpc-web" | "grpc";
  /** Resolves to what came of it; rejects where nothing came. */
  call(question: RpcRequest): Promise<Outcome>;
  close(): void;
}

/** The descriptor of an RPC. */
export function methodOf(name: MethodName): DescMethodUnary {
  return methods[name];
}

/** A question's request message. */
export function requestOf({ method, message = {} }: RpcRequest): MessageShape<DescMessage> {
  return create(methodOf(method).input, message);
}

/** A response message as an `Outcome` shows it. */
export function shown(schema: DescMessage, message: MessageShape<DescMessage>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
