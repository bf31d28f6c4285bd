/**
 * What the handler of an RPC is given besides its request, and what it answers. The pipeline
 * (src/rpc) calls handlers, the service (src/revenue) consists of them, and neither imports the other.
 */
import type { Message } from "@bufbuild/protobuf";

/** The authenticated caller of an RPC: the provider that owns the API key. */
export interface Caller {
  /** `providers.id`, an unsigned 64-bit integer as a decimal string. */
  readonly providerId: string;
}

/** The call that a handler answers. */
export interface Context {
  readonly caller: Caller;
  /** Aborted if the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
}

/** The answer of a handler. */
export interface Answer<Response extends Message> {
  readonly message: Response;
  /** In epoch ms: everything that was committed before is in the message. */
  readonly asOf: number;
  /** Sent with the response: headers in HTTP, metadata in gRPC. Names are in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
}
