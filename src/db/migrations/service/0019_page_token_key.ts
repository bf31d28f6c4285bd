import type { Knex } from "knex";

export const table = "page_token_keys";

/** Makes the key. Its bytes are in the statement, so that it is the same on all replicas, however they are fed. */
export async function up(database: Knex): Promise<void> {
  const secret = crypto.getRandomValues(Buffer.alloc(32)).toString("hex");
  await database.raw(
    `INSERT IGNORE INTO page_token_keys (provider_id, secret) VALUES (0, X'${secret}')`,
  );
}

export async function down(database: Knex): Promise<void> {
  await database.raw("DELETE FROM page_token_keys WHERE provider_id = 0");
}
