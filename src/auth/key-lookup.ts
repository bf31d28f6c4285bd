/** Finds an issued API key in the database by its hash. */
import { fromDatetime } from "../db/datetime.ts";
import type { Read } from "../db/query.ts";

/** What authentication needs to know of an issued key. */
export interface IssuedKey {
  /** `providers.id`, a decimal string. */
  readonly providerId: string;
  /** The key is invalid from this instant, in epoch ms; Infinity if it does not expire. */
  readonly expiresAt: number;
  readonly revoked: boolean;
}

/** Finds an issued key by its hash; undefined if there is none. Rejects with a `ServiceError`. */
export type KeyLookup = (keyHash: Buffer, signal: AbortSignal) => Promise<IssuedKey | undefined>;

/**
 * The key with a hash. This is the only query without `provider_id` in its WHERE, because it
 * finds the provider. It reads one row through the unique index on `key_hash`.
 */
export const KEY_BY_HASH =
  "SELECT provider_id, expires_at, revoked_at FROM api_keys WHERE key_hash = ?";

/** Creates a lookup that queries the database each time. */
export function createKeyLookup(read: Read): KeyLookup {
  return async (keyHash, signal) => {
    const [row] = await read(KEY_BY_HASH, [keyHash], { signal });
    const [providerId, expiresAt, revokedAt] = row ?? [];
    if (providerId == null) return undefined;
    return {
      providerId,
      // An unreadable expiry becomes NaN: every comparison with it is false, so the key is invalid.
      expiresAt: expiresAt == null ? Infinity : fromDatetime(expiresAt),
      revoked: revokedAt != null,
    };
  };
}
