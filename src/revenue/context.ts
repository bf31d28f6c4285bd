/** What a call brings to an RPC, besides its request. */
import type { Caller } from "../access/caller.ts";
import type { Limits } from "../limits.ts";

export interface Context {
  readonly caller: Caller;
  /** The one instant of this call, in epoch ms. */
  readonly now: number;
  readonly limits: Limits;
}
