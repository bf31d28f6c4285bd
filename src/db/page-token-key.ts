/**
 * The key of page tokens: one for all instances, which outlives them. `npm run migrate` makes it, and nothing but a
 * hand changes it, so a process reads it once.
 */
import type { Knex } from "knex";

/** It has a provider, 0, so that one shard has it. */
export const PAGE_TOKEN_KEY = "SELECT secret FROM page_token_keys WHERE provider_id = 0";

/** @throws Error with what to do, if there is none */
export async function readPageTokenKey(database: Knex): Promise<Uint8Array> {
  const [[row]] = await database.raw(PAGE_TOKEN_KEY);
  if (row !== undefined) return row.secret;
  throw new Error(
    "page_token_keys has no row with the provider_id 0: INSERT INTO page_token_keys (provider_id, secret) VALUES (0, RANDOM_BYTES(32))",
  );
}
