/** The databases of the benchmarks, on one private server. */
import type { Knex } from "knex";
import { createConnection } from "mysql2/promise";
import { migrate } from "../dev/demo/setup.ts";
import { issueKey } from "../src/auth/key-registry.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { rollUp } from "../src/rollup/write/run.ts";
import { addCharges } from "./ledger.ts";

/** How many charges come in before the last rollup. */
export const NEW_CHARGES = 10_000;

export interface Fixture {
  readonly url: string;
  /** Its providers' keys. */
  readonly keys: readonly string[];
  /** How long rollups took, in ms: the first, one with nothing new, one with the new charges. */
  readonly rollups: readonly [first: number, idle: number, next: number];
}

/**
 * Makes a database: migrated, filled, rolled up.
 *
 * @param serverUrl of an account that may create databases
 * @param providers how many `fill` makes, numbered from 1
 */
export async function createFixture(
  serverUrl: string,
  name: string,
  providers: number,
  fill: (database: Knex) => Promise<void>,
): Promise<Fixture> {
  const url = await createDatabase(serverUrl, name);
  await migrate(url);
  const database = createPool(parseDatabaseUrl(url));
  try {
    await fill(database);
    const first = await timed(() => rollUp(database, { margin: 0 }));
    await database.raw("ANALYZE TABLE rollups, rollup_checkpoints, rollup_figures, rollup_months");
    const idle = await timed(() => rollUp(database, { margin: 0 }));
    await addCharges(database, NEW_CHARGES);
    const next = await timed(() => rollUp(database, { margin: 0 }));
    const keys: string[] = [];
    for (let id = 1; id <= providers; id++) {
      keys.push((await issueKey(database, String(id), "bench", null)).key);
    }
    return { url, keys, rollups: [first, idle, next] };
  } finally {
    await database.destroy();
  }
}

/** How long something took, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const connection = await createConnection(serverUrl);
  await connection.query(`CREATE DATABASE ${name}`);
  await connection.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
