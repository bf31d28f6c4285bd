/** Authentication: from the headers of a call to its caller. */
import { ServiceError } from "../errors.ts";
import { hashKey } from "./api-key.ts";
import type { Caller } from "./caller.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { IssuedKey, KeyLookup } from "./key-lookup.ts";

/**
 * Tells who calls, at the instant `now` (epoch milliseconds). Rejects with
 * `ServiceError("unauthenticated")`, the same for a key that is missing, malformed, unknown,
 * expired or revoked, or with what the lookup rejects with.
 */
export type Authenticate = (
  credentials: Credentials,
  signal: AbortSignal,
  now: number,
) => Promise<Caller>;

/** Authentication by API key. A text that cannot be a key is refused without a lookup. */
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
 * A key is refused from the very millisecond of its expiry. A revoked key is refused whatever
 * the time of its revocation, so that no difference between two machines' clocks keeps it alive.
 */
function isValid(issued: IssuedKey, now: number): boolean {
  return !issued.revoked && now < issued.expiresAt;
}
