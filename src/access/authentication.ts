/** Authentication: from the headers of a call to its caller. */
import { Failure } from "../failure.ts";
import type { Limits } from "../limits.ts";
import type { Caller } from "./caller.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { IssuedKey, KeyLookup } from "./issued-key.ts";
import { hashKey } from "./key.ts";

/**
 * Tells who calls, at the instant `now` (epoch milliseconds). Rejects with
 * `Failure("unauthenticated")`, the same for a key that is missing, malformed, unknown,
 * expired or revoked, or with what the lookup rejects with.
 */
export type Authenticate = (
  credentials: Credentials,
  limits: Limits,
  now: number,
) => Promise<Caller>;

/** Authentication by API key. A text that cannot be a key is refused without a lookup. */
export function createAuthentication(lookup: KeyLookup): Authenticate {
  return async (credentials, limits, now) => {
    const key = readCredentials(credentials);
    if (key === undefined) throw new Failure("unauthenticated");
    const issued = await lookup(hashKey(key), limits);
    if (issued === undefined || !isValid(issued, now)) throw new Failure("unauthenticated");
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
