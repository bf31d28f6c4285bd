/** The one question that authentication asks of the database: which issued key has this hash? */
import { fromDatetime } from "../db/datetime.ts";
import type { Read } from "../db/query.ts";

/** A key as it was issued: whose it is, and until when. */
export interface IssuedKey {
  /** `providers.id`, a decimal string. */
  readonly providerId: string;
  /** The instant from which it is refused, in epoch milliseconds; Infinity without one. */
  readonly expiresAt: number;
  readonly revoked: boolean;
}

/** Finds an issued key by its hash; undefined where none has it. Rejects with a `ServiceError`. */
export type KeyLookup = (keyHash: Buffer, signal: AbortSignal) => Promise<IssuedKey | undefined>;

/**
 * The key with a hash. This is the one query without `provider_id` in its WHERE: it finds
 * the provider. It reads one row through the unique index on `key_hash`.
 */
export const KEY_WITH_HASH =
  "SELECT provider_id, expires_at, revoked_at FROM api_keys WHERE key_hash = ?";

/** A lookup that asks the database each time, so that a revocation counts at once. */
export function createKeyLookup(read: Read): KeyLookup {
  return async (keyHash, signal) => {
    const [row] = await read(KEY_WITH_HASH, [keyHash], signal);
    const [providerId, expiresAt, revokedAt] = row ?? [];
    if (providerId == null) return undefined;
    return { providerId, expiresAt: epochOf(expiresAt), revoked: revokedAt != null };
  };
}

/**
 * A stored `YYYY-MM-DD HH:MM:SS.mmm` (UTC) in epoch milliseconds; Infinity for NULL, and
 * for what is no time NaN, which no instant lies before: such a key is refused.
 */
function epochOf(datetime: string | null | undefined): number {
  return datetime == null ? Infinity : fromDatetime(datetime);
}
