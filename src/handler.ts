/**
 * What the handler of an RPC is given besides its request, and what it answers. The pipeline
 * (src/rpc) calls handlers, the service (src/revenue) consists of them, and neither imports the other.
 */
import type { Message } from "@bufbuild/protobuf";
import { ServiceError } from "./errors.ts";

/**
 * The API key of a call: a provider's own, or that of a service of the platform, which may ask about any
 * provider.
 */
export type CallerKey =
  | { readonly kind: "provider"; readonly id: string; readonly providerId: string }
  | { readonly kind: "service"; readonly id: string; readonly name: string };

/**
 * Whose limits and connections a call uses, and with whom it shares runs: all keys of a provider have one
 * share, and each service key has its own, whichever providers it asks about.
 */
export function shareOf(key: CallerKey): string {
  switch (key.kind) {
    case "provider":
      return key.providerId;
    case "service":
      return `service key ${key.id}`;
    default:
      return refuseKind(key);
  }
}

/** The default of each `switch` over kinds of keys: one that it does not name may do nothing. */
export function refuseKind(_key: never): never {
  throw new ServiceError("permissionDenied");
}

/** The caller of an RPC, as a handler sees it: the provider that is asked about, and may be, and who pays. */
export interface Caller {
  /** `providers.id`, an unsigned 64-bit integer as a decimal string; `NO_PROVIDER` of an RPC about no single one. */
  readonly providerId: string;
  /** Whose share of the connections its reads use: that of the key (`shareOf`), whichever provider they are about. */
  readonly share: string;
}

/** A number that no provider has: ids start at 1. `api_keys.provider_id` of a service key. */
export const NO_PROVIDER = "0";

/** The call that a handler answers. */
export interface Context {
  readonly caller: Caller;
  /** Aborted if the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
}

/** The same, for one that answers with less if the time is short. */
export interface TimedContext extends Context {
  /** When the call of the first caller ends, in ms of `performance.now()`. */
  readonly deadline: number;
}

/** The answer of a handler. */
export interface Answer<Response extends Message> {
  readonly message: Response;
  /** In epoch ms: everything that was committed before is in the message. */
  readonly asOf: number;
  /** Sent with the response: headers in HTTP, metadata in gRPC. Names are in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
}
