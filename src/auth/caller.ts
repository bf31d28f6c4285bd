/** Who calls: what an API key stands for. */
export interface Caller {
  /** `providers.id`, a decimal string (an unsigned 64-bit number). */
  readonly providerId: string;
}
