/** Finds issued API keys in the database by their hashes, many in one query. */
import { fromDatetime } from "../db/datetime.ts";
import type { Read } from "../db/query.ts";
import { type CallerKey, NO_PROVIDER } from "../handler.ts";

/** What authentication needs to know of an issued key. */
export interface IssuedKey {
  readonly key: CallerKey;
  /** The key is invalid from this instant, in epoch ms; Infinity if it does not expire. */
  readonly expiresAt: number;
  readonly revoked: boolean;
}

/** For whom a key is looked up. */
export interface LookupRequest {
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** The address of the caller, as a key for limits. */
  readonly address: string;
}

/** Finds an issued key by its hash; undefined if there is none. Rejects with a `ServiceError`. */
export type KeyLookup = (keyHash: Buffer, request: LookupRequest) => Promise<IssuedKey | undefined>;

/** Finds issued keys, by hash in hexadecimal. Unknown ones are missing. */
export type FindKeys = (
  keyHashes: readonly Buffer[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, IssuedKey>>;

/** The most keys that one query looks up. */
export const MAX_BATCH = 64;
/** The numbers of hashes in a query: each is a prepared statement. Spare places repeat a hash. */
export const SIZES = [1, 8, MAX_BATCH] as const;

/**
 * The query for a number of keys. These are the only queries without `provider_id` in their WHERE,
 * because they find the provider. They read through the unique index on `key_hash`. The hashes are
 * sent in hexadecimal: MySQL fails to list its sessions and transactions, which the rollup reads, as
 * long as one of them runs a statement with bytes that are not text.
 */
export function keysByHash(count: number): string {
  const places = Array(count).fill("UNHEX(?)").join(", ");
  return `SELECT LOWER(HEX(key_hash)), CAST(id AS CHAR), CAST(provider_id AS CHAR), name, expires_at, revoked_at FROM api_keys WHERE key_hash IN (${places})`;
}

/** Its rows. In a view, a key may have no provider, nor a name. */
type KeyRow = readonly [
  hash: string,
  id: string,
  providerId: string | null,
  name: string | null,
  expiresAt: string | null,
  revokedAt: string | null,
];

const QUERIES = SIZES.map((size) => ({ size, sql: keysByHash(size) }));

/**
 * Creates the search for keys. Each batch, of at most `MAX_BATCH` hashes, is one query.
 *
 * @param owner whose share of the connections the queries use
 */
export function createFindKeys(read: Read, owner = ""): FindKeys {
  return async (keyHashes, signal) => {
    const statement = QUERIES.find(({ size }) => size >= keyHashes.length);
    if (statement === undefined) throw new Error(`more than ${MAX_BATCH} keys in a batch`);
    const bindings = Array.from(
      { length: statement.size },
      (_, index) => keyHashes[Math.min(index, keyHashes.length - 1)]?.toString("hex") ?? "",
    );
    const rows = await read(({ query }) => query(statement.sql, bindings, "api_keys"), {
      signal,
      owner,
    });
    const found = new Map<string, IssuedKey>();
    for (const row of rows) {
      const [hash, id, providerId, name, expiresAt, revokedAt] = row as KeyRow;
      // It gives access to nothing.
      if (providerId === null) continue;
      found.set(hash, {
        key:
          providerId === NO_PROVIDER
            ? { kind: "service", id, name: name ?? "" }
            : { kind: "provider", id, providerId },
        // An unreadable expiry becomes NaN: every comparison with it is false, so the key is invalid.
        expiresAt: expiresAt === null ? Infinity : fromDatetime(expiresAt),
        revoked: revokedAt !== null,
      });
    }
    return found;
  };
}
