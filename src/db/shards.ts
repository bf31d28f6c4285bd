/** The shards of a keyspace of Vitess. A command works on one of them; what reads all must ask each. */
import type { Knex } from "knex";

/** What to do if a command is told to work on all of them. */
export const SHARDED =
  "DATABASE_URL leads to all shards of a keyspace of Vitess: run this command for each of them, with the shard behind the keyspace's name (mysql://host/revenue:-80)";

/**
 * The databases that are the shards of the one in the URL, as `revenue:-80` names one to vtgate. None if that is one
 * shard, or no keyspace of Vitess.
 */
export async function shardsOf(database: Knex): Promise<readonly string[]> {
  const [[{ version, name }]] = await database.raw(
    "SELECT VERSION() AS version, DATABASE() AS name",
  );
  // vtgate answers for a keyspace, and the server behind it for a shard.
  if (!/vitess/i.test(version)) return [];
  const [keyspace = "", tablets] = String(name).split("@");
  const [rows] = await database.raw("SHOW VITESS_SHARDS LIKE ?", [`${keyspace}/%`]);
  const shards = (rows as object[])
    .flatMap((row) => Object.values(row) as string[])
    .filter((shard) => shard.startsWith(`${keyspace}/`))
    .map((shard) => shard.slice(keyspace.length + 1));
  if (shards.length < 2) return [];
  return shards.map((shard) => [`${keyspace}:${shard}`, tablets].filter(Boolean).join("@"));
}

/** @throws Error with what to do, if the database is all shards of a keyspace */
export async function requireOneShard(database: Knex): Promise<void> {
  if ((await shardsOf(database)).length > 0) throw new Error(SHARDED);
}
