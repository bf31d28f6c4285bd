/** What a Connect or gRPC-Web call is besides its message, carried in its context values. */
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Credentials } from "../access/credentials.ts";
import type { Failure } from "../failure.ts";

export interface Arrival {
  readonly requestId: string;
  readonly credentials: Credentials;
  /** Aborts when the caller goes away. */
  departure?: AbortSignal;
  /** Whether Connect could read the request, so that the Rpc was called. */
  called: boolean;
  /** Connect's own signal of the call; its reason is the error that the call ended with. */
  ended?: AbortSignal;
  /** What to answer instead of reading the request. */
  refusal?: Failure;
}

/** Under which a call's arrival is handed to its handler. */
export const ARRIVAL = createContextKey<Arrival | undefined>(undefined);

/** The arrival of the call that these values came with. */
export function arrivalOf(values: ContextValues): Arrival {
  const arrival = values.get(ARRIVAL);
  if (arrival === undefined) throw new Error("a call without its arrival");
  return arrival;
}
