/**
 * The registry of API keys: issue, list and revoke. It stores the hash and the hint of a key,
 * never the key. Only `npm run key` uses it; the service's account may only read the table.
 */
import type { Knex } from "knex";
import { NO_PROVIDER } from "../handler.ts";
import { type ApiKey, generateKey, hashKey, hintOf } from "./api-key.ts";

/** A row of the registry. Ids are decimal strings, times `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export interface RegisteredKey {
  readonly id: string;
  /** That of no provider for a service key: `isServiceKey`. */
  readonly providerId: string;
  readonly name: string;
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** Whether a key is a service key, which may ask about any provider. */
export function isServiceKey({ providerId }: RegisteredKey): boolean {
  return providerId === NO_PROVIDER;
}

/** Selects one key, by `api_keys.id` or by the key itself. */
export type KeySelector = { readonly id: string } | { readonly key: ApiKey };

/**
 * Issues a key to a provider.
 *
 * @param expiresAt the key is invalid from this instant, in epoch ms; null for never
 * @returns the key, which cannot be read again later, the row that the database then has of it, and
 *   the name of its provider
 * @throws Error, with a message for the operator, if there is no such provider, or no such row
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
  const issued = await store(database, generateKey(), providerId, name, expiresAt);
  return { ...issued, providerName: provider.name };
}

/**
 * Issues a service key, which may ask about any provider.
 *
 * @param expiresAt as for `issueKey`
 * @returns the key, which cannot be read again later, and the row that the database then has of it
 * @throws Error, with a message for the operator, if there is no such row
 */
export async function issueServiceKey(database: Knex, name: string, expiresAt: number | null) {
  const issued = await store(database, generateKey("service"), NO_PROVIDER, name, expiresAt);
  return { ...issued, providerName: undefined };
}

async function store(
  database: Knex,
  key: ApiKey,
  providerId: string,
  name: string,
  expiresAt: number | null,
) {
  await database("api_keys").insert({
    provider_id: providerId,
    name,
    key_hash: hashKey(key),
    hint: hintOf(key),
    expires_at: expiresAt === null ? null : new Date(expiresAt),
  });
  const row = await findKey(database, { key });
  if (row === undefined) throw new Error("the database has not stored the key: issue another one");
  return { ...row, key };
}

/** Lists the keys of one provider, or of all, by id; revoked keys included. */
export async function listKeys(database: Knex, providerId?: string): Promise<RegisteredKey[]> {
  const keys = registeredKeys(database).orderBy("api_keys.id");
  return providerId === undefined ? keys : keys.where({ provider_id: providerId });
}

/**
 * Revokes a key, at the time of the database's clock. Does nothing if it was revoked before.
 *
 * @returns the row that the database then has of it, and whether this call has revoked it
 * @throws Error, with a message for the operator, if there is no such key, or it is not revoked
 */
export async function revokeKey(
  database: Knex,
  selector: KeySelector,
): Promise<{ readonly row: RegisteredKey; readonly changed: boolean }> {
  const key = await findKey(database, selector);
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
  const row = await findKey(database, selector);
  if (row?.revokedAt == null) {
    throw new Error(`key ${key.id} is still valid: the database has not stored that it is revoked`);
  }
  return { row, changed: key.revokedAt === null };
}

/**
 * The row of a key, as it is committed. It is locked, so a proxy that sends reads to replicas asks the
 * server that writes.
 */
async function findKey(database: Knex, selector: KeySelector): Promise<RegisteredKey | undefined> {
  const [row] = await registeredKeys(database)
    .where("id" in selector ? { id: selector.id } : { key_hash: hashKey(selector.key) })
    .forUpdate();
  return row;
}

function registeredKeys(database: Knex): Knex.QueryBuilder<object, RegisteredKey[]> {
  return database("api_keys").select({
    id: database.raw("CAST(id AS CHAR)"),
    providerId: database.raw("CAST(provider_id AS CHAR)"),
    name: "name",
    hint: "hint",
    createdAt: "created_at",
    expiresAt: "expires_at",
    revokedAt: "revoked_at",
  });
}
