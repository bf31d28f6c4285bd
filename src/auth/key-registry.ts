/**
 * The registry of API keys: issue, list and revoke. It stores the hash and the hint of a key,
 * never the key. Only `npm run key` uses it; the service's account may only read the table.
 */
import type { Knex } from "knex";
import { type ApiKey, generateKey, hashKey, hintOf } from "./api-key.ts";

/** A row of the registry. Ids are decimal strings, times `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export interface RegisteredKey {
  readonly id: string;
  readonly providerId: string;
  readonly name: string;
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** Selects one key, by `api_keys.id` or by the key itself. */
export type KeySelector = { readonly id: string } | { readonly key: ApiKey };

/**
 * Issues a key to a provider.
 *
 * @param expiresAt the key is invalid from this instant, in epoch ms; null for never
 * @returns the key, which cannot be read again later, with its id and its hint, and the name of
 *   its provider
 * @throws Error, with a message for the operator, if there is no such provider
 */
export async function issueKey(
  database: Knex,
  providerId: string,
  name: string,
  expiresAt: number | null,
) {
  const provider: { name: string } | undefined = await database("providers")
    .where({ id: providerId })
    .first("name");
  if (provider === undefined) {
    throw new Error(`provider ${providerId} does not exist in the table providers`);
  }
  const key = generateKey();
  const hint = hintOf(key);
  const [id] = await database("api_keys").insert({
    provider_id: providerId,
    name,
    key_hash: hashKey(key),
    hint,
    expires_at: expiresAt === null ? null : new Date(expiresAt),
  });
  return { id: String(id), key, hint, providerName: provider.name };
}

/** Lists the keys of one provider, or of all, by id; revoked keys included. */
export async function listKeys(database: Knex, providerId?: string): Promise<RegisteredKey[]> {
  const keys = registeredKeys(database).orderBy("id");
  return providerId === undefined ? keys : keys.where({ provider_id: providerId });
}

/**
 * Revokes a key, at the time of the database's clock. Does nothing if it was revoked before.
 *
 * @returns the key as it was before the call; its `revokedAt` is not null if it was revoked before
 * @throws Error, with a message for the operator, if there is no such key
 */
export async function revokeKey(database: Knex, selector: KeySelector): Promise<RegisteredKey> {
  const [key] = await registeredKeys(database).where(
    "id" in selector ? { id: selector.id } : { key_hash: hashKey(selector.key) },
  );
  if (key === undefined) {
    throw new Error(
      "id" in selector
        ? `key ${selector.id} does not exist`
        : `key ${hintOf(selector.key)}… does not exist in this database`,
    );
  }
  await database("api_keys")
    .where({ provider_id: key.providerId, id: key.id })
    .whereNull("revoked_at")
    .update({ revoked_at: database.fn.now(3) });
  return key;
}

function registeredKeys(database: Knex): Knex.QueryBuilder<object, RegisteredKey[]> {
  return database("api_keys").select({
    id: "id",
    providerId: "provider_id",
    name: "name",
    hint: "hint",
    createdAt: "created_at",
    expiresAt: "expires_at",
    revokedAt: "revoked_at",
  });
}
