/**
 * One call, whatever the protocol. A door (REST, Connect, gRPC-Web, gRPC) says
 * what came in; `Rpc` answers it or throws a `Failure`.
 */
import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { Credentials } from "../access/credentials.ts";

export type { Credentials };

/** The protocol by which a call came. */
export type Door = "rest" | "connect" | "grpc-web" | "grpc";

/** A call as a door hands it in. */
export interface IncomingCall<I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  readonly door: Door;
  readonly requestId: string;
  readonly credentials: Credentials;
  /** The caller's own deadline in epoch milliseconds; Infinity without one. */
  readonly deadline: number;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
  /**
   * Decodes the request; throws `Failure("invalidArgument")` where that cannot be done.
   * Called once, after the caller is known: a bad key with a bad request is a bad key.
   */
  readonly request: () => MessageShape<I>;
}

/** Answers calls: authenticates, checks, runs and measures each, and writes its log line. */
export interface Rpc {
  /** Resolves to the response; rejects with a `Failure` and nothing else. */
  call<I extends DescMessage, O extends DescMessage>(
    incoming: IncomingCall<I, O>,
  ): Promise<MessageShape<O>>;
}
