/**
 * The keyspaces of a Vitess that is running: `plain`, which is unsharded, and `revenue`, which has two shards or
 * more and the vschema of `deploy/clusters/vitess/`. `VITESS_URL` is vtgate's, without a keyspace.
 */
import type { Knex } from "knex";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { testPool } from "../support/database.ts";

export interface Keyspace extends AsyncDisposable {
  readonly name: string;
  /** For `DATABASE_URL` of the service. */
  readonly url: string;
  readonly pool: Knex;
  /** Pools of the shards, or of the keyspace if it is not sharded: what the commands run on. */
  readonly targets: readonly Knex[];
}

export const UNSHARDED = "plain";
export const SHARDED = "revenue";

/** Opens a keyspace, and migrates it. */
export async function openKeyspace(
  name: string,
  options?: Parameters<typeof testPool>[1],
): Promise<Keyspace> {
  const url = (target: string) => `${process.env.VITESS_URL}/${target}`;
  const open = (target: string) => testPool(url(target), options);
  const pool = open(name);
  const [shards] = await pool.raw("SHOW VITESS_SHARDS LIKE ?", [`${name}/%`]);
  const names: string[] = shards.map((row: object) => String(Object.values(row)[0]).split("/")[1]);
  const targets = names.length === 1 ? [pool] : names.map((shard) => open(`${name}:${shard}`));
  for (const target of targets) await migrateToLatest(target);
  return {
    name,
    url: url(name),
    pool,
    targets,
    async [Symbol.asyncDispose]() {
      await Promise.all([...new Set([pool, ...targets])].map((each) => each.destroy()));
    },
  };
}

/** Adds providers, and resolves to the number of them on each target. */
export async function addProviders(
  { pool, targets }: Keyspace,
  ids: readonly bigint[],
): Promise<number[]> {
  await pool("providers").whereIn("id", ids.map(String)).del();
  for (const id of ids) await pool("providers").insert({ id: String(id), name: `provider ${id}` });
  const stored = targets.map((target) =>
    target("providers").whereIn("id", ids.map(String)).pluck("id"),
  );
  return (await Promise.all(stored)).map(({ length }) => length);
}
