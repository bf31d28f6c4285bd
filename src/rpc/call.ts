/** One call, whatever its protocol: the input and output of the pipeline. */
import type { DescMessage, DescMethodUnary, Message, MessageShape } from "@bufbuild/protobuf";
import type { Credentials } from "../auth/credentials.ts";
import type { ServiceError } from "../errors.ts";
import type { TraceHeaders } from "../telemetry/traces/call-trace.ts";

/** The protocol of a call, as the log names it. */
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
  /** The client's address, as a key for limits (src/net/address.ts). */
  readonly address: string;
  /** The caller's own deadline in epoch ms; Infinity if it sent none. */
  readonly deadline: number;
  /** Aborts when the caller cancels or disconnects. */
  readonly signal: AbortSignal;
  /** The headers of W3C Trace Context, if the caller sent any. */
  readonly trace?: TraceHeaders | undefined;
}

/** The response to a call that succeeded. */
export interface CallResponse<Response extends Message = Message> {
  /** The same object for all calls that share a run. */
  readonly message: Response;
  /** To send with this response only: headers in HTTP, trailers in gRPC. Names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * A call that was authenticated and admitted. It ends when `run` settles, when `reject` is
 * called, or, if neither was called yet, when its deadline passes or the caller cancels.
 */
export interface AcceptedCall<
  I extends DescMessage = DescMessage,
  O extends DescMessage = DescMessage,
> {
  /** Aborts at the call's deadline, or when the caller cancels. */
  readonly signal: AbortSignal;
  /** To send with any response: headers in HTTP, metadata in gRPC. Names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * Decodes the request and runs the RPC. Rejects with a `ServiceError` and nothing else.
   *
   * @param decode throws `ServiceError("invalidArgument")` for a malformed request
   */
  run(decode: () => MessageShape<I>): Promise<CallResponse<MessageShape<O>>>;
  /** Ends the call without running it, if its request could not be read. */
  reject(error: ServiceError): void;
}

/** The pipeline of all calls, as the protocols see it. */
export interface Rpc {
  /**
   * Authenticates and admits a call from its headers, before its message is read: a call with
   * both a bad key and a malformed message fails with `unauthenticated`. Rejects with a
   * `ServiceError` and nothing else.
   */
  accept<I extends DescMessage, O extends DescMessage>(
    incoming: IncomingCall<I, O>,
  ): Promise<AcceptedCall<I, O>>;
}
