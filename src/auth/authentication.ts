/** Authentication: from the credentials of a call to its caller. */
import { ServiceError } from "../errors.ts";
import type { Caller } from "../handler.ts";
import { hashKey } from "./api-key.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { IssuedKey, KeyLookup, LookupRequest } from "./key-lookup.ts";

/**
 * How many failures of one client address are within the limit: per second in the long run, and at
 * once. A burst lets a fleet behind one address start with an outdated key.
 */
export const FAILURES_PER_ADDRESS = { rate: 20, burst: 1_000 };

/** Takes a failure out of the token bucket of an address; not allowed if that is empty. */
type TakeFailure = (address: string) => { readonly allowed: boolean };

/**
 * Identifies the caller at the instant `now` (epoch ms). Rejects with
 * `ServiceError("unauthenticated")`, the same for a key that is missing, malformed, unknown,
 * expired or revoked; with `tooManyFailures` if too many keys from its address were; or with what
 * the lookup rejects with.
 */
export type Authenticate = (
  credentials: Credentials,
  request: LookupRequest,
  now: number,
) => Promise<Caller>;

/**
 * Creates authentication by API key. A malformed key is rejected without a lookup: the time of that
 * refusal tells no more than the key's own checksum does.
 *
 * The limit on failures only decides which error one of them gets. It never concerns a valid key, and a
 * success does not reset the count.
 */
export function createAuthentication(lookup: KeyLookup, takeFailure: TakeFailure): Authenticate {
  return async (credentials, request, now) => {
    const key = readCredentials(credentials);
    const issued = key === undefined ? undefined : await lookup(hashKey(key), request);
    if (issued !== undefined && isValid(issued, now)) return { providerId: issued.providerId };
    const { allowed } = takeFailure(request.address);
    throw new ServiceError(allowed ? "unauthenticated" : "tooManyFailures");
  };
}

/**
 * A key is invalid from the millisecond of its expiry. The time of a revocation does not matter:
 * compared with this machine's clock, it could lie in the future.
 */
function isValid(issued: IssuedKey, now: number): boolean {
  return !issued.revoked && now < issued.expiresAt;
}
