/** What belongs to a Connect or gRPC-Web call besides its message, carried in context values. */
import type { ServerResponse } from "node:http";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Credentials } from "../../auth/credentials.ts";
import type { AcceptedCall, IncomingCall } from "../../rpc/call.ts";

/** One call, from its headers to its end. */
export interface ConnectCall {
  readonly requestId: string;
  readonly credentials: Credentials;
  readonly address: string;
  /** Epoch ms; Infinity without one. */
  readonly deadline: number;
  /** Aborts if the client disconnects. */
  readonly signal: AbortSignal;
  readonly trace: IncomingCall["trace"];
  readonly response: ServerResponse;
  /** Set once the request gate has accepted the call. */
  accepted?: AcceptedCall;
  /** Whether its message was decoded, and the call run. */
  ran?: boolean;
}

/** The context key of the call. */
export const CALL = createContextKey<ConnectCall | undefined>(undefined);

/** The call in context values. Throws an Error if there is none. */
export function callOf(values: ContextValues): ConnectCall {
  const call = values.get(CALL);
  if (call === undefined) throw new Error("no call in the context values");
  return call;
}
