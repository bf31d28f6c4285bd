/** How long a piece of work may take, and whether anybody still waits for it. */
export interface Limits {
  /** Aborts when the deadline has passed or the caller has gone; `reason` is a Failure. */
  readonly signal: AbortSignal;
}
