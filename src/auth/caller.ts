/** The authenticated caller of an RPC: the provider that owns the API key. */
export interface Caller {
  /** `providers.id`, an unsigned 64-bit integer as a decimal string. */
  readonly providerId: string;
}
