/** What the sections of the page share. */
import type { createRevenueClient } from "../../clients/typescript/src/index.ts";
import type { Address, Go } from "./address.ts";
import type { CallState, Reject } from "./call/use-call.ts";

/** What every section knows. */
export interface Page {
  readonly client: ReturnType<typeof createRevenueClient>;
  readonly timeZone: string;
  /** The provider's name; "" before it is known, and if there is none. */
  readonly provider: string;
  /** The instant of the figures; undefined before there are any. */
  readonly asOf: Date | undefined;
  /** The day of that instant in the zone. */
  readonly today: string;
  readonly address: Address;
  readonly go: Go;
  readonly reject: Reject;
}

/** A section about the answer of a call. */
export interface PageCall<T> extends Page {
  readonly call: CallState<T>;
}
