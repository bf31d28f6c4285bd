/** One call, whatever its protocol: what an adapter hands to the pipeline, and what it gets back. */
import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { Credentials } from "../auth/credentials.ts";
import type { ServiceError } from "../errors.ts";

export type { Credentials };

/** The protocol of a call. */
export type Protocol = "rest" | "connect" | "grpc-web" | "grpc";

/** What is known of a call from its headers. */
export interface IncomingCall<
  I extends DescMessage = DescMessage,
  O extends DescMessage = DescMessage,
> {
  readonly method: DescMethodUnary<I, O>;
  readonly protocol: Protocol;
  readonly requestId: string;
  readonly credentials: Credentials;
  /** The caller's own deadline in epoch ms; Infinity without one. */
  readonly deadline: number;
  /** Aborts when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
}

/** A call that was admitted and authenticated. It ends with one of `run` and `reject`. */
export interface AcceptedCall<
  I extends DescMessage = DescMessage,
  O extends DescMessage = DescMessage,
> {
  /** Aborts at the call's deadline, or when the caller cancels. */
  readonly signal: AbortSignal;
  /**
   * Decodes the request and runs the RPC. Rejects with a `ServiceError` and nothing else.
   *
   * @param decode throws `ServiceError("invalidArgument")` for a malformed request
   */
  run(decode: () => MessageShape<I>): Promise<MessageShape<O>>;
  /** Ends the call without running it, for a request that never became a message. */
  reject(error: ServiceError): void;
}

/** Takes calls through admission, authentication, coalescing, deadline and log. */
export interface Rpc {
  /**
   * Admits and authenticates a call from its headers, before its message is read: a request with
   * a bad key and a malformed message gets `unauthenticated`. Rejects with a `ServiceError`.
   */
  accept<I extends DescMessage, O extends DescMessage>(
    incoming: IncomingCall<I, O>,
  ): Promise<AcceptedCall<I, O>>;
}
