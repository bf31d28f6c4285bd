/** What a call brings to an RPC, besides its request. */
import type { Caller } from "../auth/caller.ts";

export interface Context {
  readonly caller: Caller;
  /** The one instant of this call, in epoch ms. */
  readonly now: number;
  readonly signal: AbortSignal;
}
