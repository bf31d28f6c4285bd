/** The context of a call: its caller, its time and its signal. */
import type { Caller } from "../auth/authentication.ts";

/** What an RPC gets besides its request. */
export interface Context {
  readonly caller: Caller;
  /** The time of the call, in epoch ms. All figures of a response relate to it. */
  readonly now: number;
  /** Aborted if the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
  /** When the response is due, in epoch ms. */
  readonly deadline: number;
}
