/**
 * The provider of a call. A provider's key stands for its own provider; a service key names one in the
 * header or metadata `x-provider-id`.
 *
 * It is no field of the request, because limits and shares need it before the message is read.
 */
import { LRUCache } from "lru-cache";
import type { Read } from "../db/query.ts";
import { ServiceError } from "../errors.ts";
import { type CallerKey, refuseKind, shareOf } from "../handler.ts";

/** The header that names the provider, and tells a service key which one was asked about. */
export const PROVIDER_HEADER = "x-provider-id";

/** A number that `providers.id` may have, but for its maximum. */
const ID = /^[1-9][0-9]{0,19}$/;
/** The largest bigint unsigned. */
const MAX_ID = 2n ** 64n - 1n;

/** The value is not repeated: it may be a key that was put into the wrong header. */
const MALFORMED = `${PROVIDER_HEADER}: with a service key, expected it exactly once, with the number of a provider, such as 7`;

const NOT_EXPECTED = `${PROVIDER_HEADER}: expected none, because this RPC is about all providers`;
const FOR_SERVICE_KEYS = "this RPC is for service keys alone";

/** How long a provider that was found is known, in ms, and how many are. One that was not found never is. */
const KNOWN = 600_000;
const MAX_KNOWN = 10_000;

/** The look-up of a provider by its primary key, and so on its shard. */
export const PROVIDER_BY_ID = "SELECT CAST(id AS CHAR) FROM providers WHERE id = ?";

/**
 * Finds the provider that a key may ask about.
 *
 * Rejects with a `ServiceError`: `permissionDenied` for a provider's key with anything but its own id, decided
 * without a statement; for a service key `invalidArgument` without exactly one id, `providerNotFound`, or
 * what the look-up rejects with.
 */
export type FindProvider = (
  key: CallerKey,
  named: readonly string[],
  signal: AbortSignal,
) => Promise<string>;

/**
 * Checks the caller of an RPC that is about all providers. A header that is ignored would let a caller take them for
 * the one that it names.
 *
 * @throws ServiceError `permissionDenied` for a provider's key, `invalidArgument` if a provider is named
 */
export function checkPlatformCaller(key: CallerKey, named: readonly string[]): void {
  switch (key.kind) {
    case "provider":
      throw new ServiceError("permissionDenied", FOR_SERVICE_KEYS);
    case "service":
      if (named.length > 0) throw new ServiceError("invalidArgument", NOT_EXPECTED);
      return;
    default:
      refuseKind(key);
  }
}

/** Whether a text is a number that `providers.id` can have. */
export function isProviderId(text: string): boolean {
  return ID.test(text) && BigInt(text) <= MAX_ID;
}

/** Creates the search. It looks providers up in the share of the key. */
export function createFindProvider(read: Read): FindProvider {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: KNOWN });

  async function exists(id: string, key: CallerKey, signal: AbortSignal): Promise<boolean> {
    if (known.has(id)) return true;
    const options = { signal, owner: shareOf(key) };
    const rows = await read(({ query }) => query(PROVIDER_BY_ID, [id], "provider"), options);
    // The database compares text with a number: it must be this very id.
    const found = rows.some(([stored]) => stored === id);
    if (found) known.set(id, true);
    return found;
  }

  return async (key, named, signal) => {
    const [id, ...more] = named;
    switch (key.kind) {
      case "provider":
        if (more.length === 0 && (id ?? key.providerId) === key.providerId) return key.providerId;
        throw new ServiceError("permissionDenied");
      case "service":
        if (id === undefined || more.length > 0 || !isProviderId(id)) {
          throw new ServiceError("invalidArgument", MALFORMED);
        }
        if (await exists(id, key, signal)) return id;
        throw new ServiceError("providerNotFound");
      default:
        return refuseKind(key);
    }
  };
}
