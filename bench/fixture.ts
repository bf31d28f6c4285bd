/** Databases for the benchmarks, on a private server. */
import { createConnection } from "mysql2/promise";
import { issueKey } from "../src/auth/key-registry.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { migrateToLatest } from "../src/db/migrate.ts";
import { createPool } from "../src/db/pool.ts";
import { rollUp } from "../src/rollup/write/run.ts";
import { fillLedger, type LedgerSize } from "./ledger.ts";

/** A database with a ledger. */
export interface Fixture {
  readonly url: string;
  /** An API key for each provider. */
  readonly keys: readonly string[];
}

/**
 * Creates a database, migrates it, fills it and rolls it up.
 *
 * @param serverUrl of an account that may create databases
 * @param sizes of the ledgers of its providers, in the order of their ids
 */
export async function createFixture(
  serverUrl: string,
  name: string,
  ...sizes: readonly LedgerSize[]
): Promise<Fixture> {
  const fixture = await createLedgers(serverUrl, name, ...sizes);
  const database = createPool(parseDatabaseUrl(fixture.url));
  try {
    await rollUp(database, { margin: 0 });
    await database.raw("ANALYZE TABLE rollups, rollup_sums, rollup_increments");
    return fixture;
  } finally {
    await database.destroy();
  }
}

/** Creates a database as `createFixture` does, without rollups. */
export async function createLedgers(
  serverUrl: string,
  name: string,
  ...sizes: readonly LedgerSize[]
): Promise<Fixture> {
  const url = await createDatabase(serverUrl, name);
  const database = createPool(parseDatabaseUrl(url));
  try {
    await migrateToLatest(database);
    let providers = 0;
    for (const size of sizes) {
      await fillLedger(database, size, providers + 1);
      providers += size.providers;
    }
    const keys: string[] = [];
    for (let id = 1; id <= providers; id++) {
      keys.push((await issueKey(database, String(id), "bench", null)).key);
    }
    return { url, keys };
  } finally {
    await database.destroy();
  }
}

/** The duration of an operation in ms. */
export async function time(operation: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await operation();
  return performance.now() - startedAt;
}

/** Creates an empty database. Resolves to its URL. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const connection = await createConnection(serverUrl);
  await connection.query(`CREATE DATABASE ${name}`);
  await connection.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
