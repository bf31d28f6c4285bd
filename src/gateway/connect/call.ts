/** What a Connect or gRPC-Web call is besides its message, carried in its context values. */
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { AcceptedCall, Credentials } from "../../rpc/call.ts";

export interface ConnectCall {
  readonly requestId: string;
  readonly credentials: Credentials;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** The call as the request gate accepted it. */
  accepted?: AcceptedCall;
  /** Whether its message could be read, so that it ran. */
  ran?: boolean;
}

/** The key of the call among its context values. */
export const CALL = createContextKey<ConnectCall | undefined>(undefined);

/** The call that context values belong to. */
export function callOf(values: ContextValues): ConnectCall {
  const call = values.get(CALL);
  if (call === undefined) throw new Error("a Connect request without its call");
  return call;
}
