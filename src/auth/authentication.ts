/** Authentication: from the credentials of a call to the key that was issued. */
import type { Config } from "../config.ts";
import { ServiceError } from "../errors.ts";
import { type CallerKey, refuseKind } from "../handler.ts";
import { type ApiKey, hashKey, kindOf } from "./api-key.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { IssuedKey, KeyLookup, LookupRequest } from "./key-lookup.ts";

/**
 * How many failures of one client address are within the limit: per second in the long run, and at
 * once. A burst lets a fleet behind one address start with an outdated key.
 */
export const FAILURES_PER_ADDRESS = { rate: 20, burst: 1_000 };

/** Takes a failure out of the token bucket of an address; not allowed if that is empty. */
type TakeFailure = (address: string) => { readonly allowed: boolean };

/** For whom a call is authenticated. */
interface AuthenticationRequest extends LookupRequest {
  /** As the log names it: "grpc" is the protocol of the gRPC port, and of no other. */
  readonly protocol: string;
}

/**
 * Identifies the key of a caller at the instant `now` (epoch ms). Rejects with
 * `ServiceError("unauthenticated")`, the same for a key that is missing, malformed, unknown,
 * expired or revoked, and for a service key where none is accepted; with `tooManyFailures` if too many keys
 * from its address were; or with what the lookup rejects with.
 */
export type Authenticate = (
  credentials: Credentials,
  request: AuthenticationRequest,
  now: number,
) => Promise<CallerKey>;

/**
 * Creates authentication by API key. A malformed key is rejected without a lookup: the time of that
 * refusal tells no more than the key's own checksum does.
 *
 * The limit on failures only decides which error one of them gets. It never concerns a valid key, and a
 * success does not reset the count.
 */
export function createAuthentication(
  lookup: KeyLookup,
  takeFailure: TakeFailure,
  serviceKeys: Config["serviceKeys"],
): Authenticate {
  const isAccepted = (key: ApiKey, protocol: string) => {
    const kind = kindOf(key);
    switch (kind) {
      case "provider":
        return true;
      case "service":
        return serviceKeys === "all" || serviceKeys === protocol;
      default:
        return refuseKind(kind);
    }
  };

  return async (credentials, request, now) => {
    const key = readCredentials(credentials);
    if (key !== undefined && isAccepted(key, request.protocol)) {
      const issued = await lookup(hashKey(key), request);
      // Only a row that was issued as what its key says counts.
      if (issued?.key.kind === kindOf(key) && isValid(issued, now)) return issued.key;
    }
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
