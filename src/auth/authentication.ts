/** Authentication: from the credentials of a call to its caller. */
import { ServiceError } from "../errors.ts";
import { hashKey } from "./api-key.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { IssuedKey, KeyLookup } from "./key-lookup.ts";

/** The authenticated caller of an RPC: the provider that owns the API key. */
export interface Caller {
  /** `providers.id`, an unsigned 64-bit integer as a decimal string. */
  readonly providerId: string;
}

/**
 * Identifies the caller at the instant `now` (epoch ms). Rejects with
 * `ServiceError("unauthenticated")`, the same for a key that is missing, malformed, unknown,
 * expired or revoked, or with what the lookup rejects with.
 */
export type Authenticate = (
  credentials: Credentials,
  signal: AbortSignal,
  now: number,
) => Promise<Caller>;

/** Creates authentication by API key. A malformed key is rejected without a lookup. */
export function createAuthentication(lookup: KeyLookup): Authenticate {
  return async (credentials, signal, now) => {
    const key = readCredentials(credentials);
    if (key === undefined) throw new ServiceError("unauthenticated");
    const issued = await lookup(hashKey(key), signal);
    if (issued === undefined || !isValid(issued, now)) throw new ServiceError("unauthenticated");
    return { providerId: issued.providerId };
  };
}

/**
 * A key is invalid from the millisecond of its expiry. The time of a revocation does not matter:
 * compared with this machine's clock, it could lie in the future.
 */
function isValid(issued: IssuedKey, now: number): boolean {
  return !issued.revoked && now < issued.expiresAt;
}
