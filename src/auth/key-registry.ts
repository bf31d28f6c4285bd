/**
 * The registry of issued keys, for the people who run the service: they issue, list and
 * revoke keys with it. It stores a key's hash and hint, never the key. The service itself
 * does not use it, and its account cannot.
 */
import type { Knex } from "knex";
import { type ApiKey, generateKey, hashKey, hintOf } from "./api-key.ts";

/** What keeps the registry from doing what it was asked; the message is for people. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

/** A key that was just issued. `key` is known here and now, and to nobody afterwards. */
export interface NewKey {
  /** `api_keys.id`, a decimal string. */
  readonly id: string;
  readonly key: ApiKey;
  readonly hint: string;
  /** The name of the provider that owns it. */
  readonly providerName: string;
}

/** A key as the registry shows it. Times are `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export interface RegisteredKey {
  readonly id: string;
  readonly providerId: string;
  readonly name: string;
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** Names one key: by its number in the registry, or by itself. */
export type KeySelector = { readonly id: string } | { readonly key: ApiKey };

/**
 * Issues a key to a provider.
 * @param expiresAt the instant from which it is refused, in epoch milliseconds; null for never
 * @throws RegistryError where there is no such provider
 */
export async function issueKey(
  database: Knex,
  providerId: string,
  name: string,
  expiresAt: number | null,
): Promise<NewKey> {
  const provider: { name: string } | undefined = await database("providers")
    .where({ id: providerId })
    .first("name");
  if (provider === undefined)
    throw new RegistryError(`there is no provider ${providerId} in the table providers`);
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

/** The keys of one provider, or of all, in the order of their numbers; revoked ones included. */
export async function listKeys(database: Knex, providerId?: string): Promise<RegisteredKey[]> {
  const keys = registeredKeys(database).orderBy("id");
  return providerId === undefined ? keys : keys.where({ provider_id: providerId });
}

/**
 * Revokes a key from now on, by the database's clock. A key that is revoked already stays as it is.
 * @returns the key as it was before, so that the caller can tell whether it was revoked already
 * @throws RegistryError where there is no such key
 */
export async function revokeKey(database: Knex, selector: KeySelector): Promise<RegisteredKey> {
  const [key] = await registeredKeys(database).where(
    "id" in selector ? { id: selector.id } : { key_hash: hashKey(selector.key) },
  );
  if (key === undefined) {
    throw new RegistryError(
      "id" in selector
        ? `there is no key with the id ${selector.id}`
        : `there is no key ${hintOf(selector.key)}… in this database`,
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
