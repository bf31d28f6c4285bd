/** A database for one test file: a copy of the template, on the run's server. */
import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { type Connection, type ConnectionOptions, createConnection } from "mysql2/promise";
import { inject } from "vitest";
import { TIME_LIMIT } from "../../dev/time-limit.ts";
import { parseDatabaseUrl } from "../../src/config.ts";
import { createPool } from "../../src/db/pool.ts";

export interface TestDatabase {
  /** For the service's DATABASE_URL. Its account may do everything on the server. */
  readonly url: string;
  /** The database's name. */
  readonly name: string;
  /** A pool of connections to it, as the service's commands have. */
  readonly knex: Knex;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** The tables that say which migrations ran, and what those wrote; the others are copied without rows. */
const MIGRATED = ["knex_migrations", "knex_migrations_lock", "migration_tables", "page_token_keys"];

/** Creates a pool on a database. A busy machine may take long to connect. */
export const testPool = (url: string, options: Parameters<typeof createPool>[1] = {}): Knex =>
  createPool(parseDatabaseUrl(url), { connectTimeout: TIME_LIMIT, ...options });

/** A connection that belongs to no pool. */
export const connectTo = (uri: string, options: ConnectionOptions = {}): Promise<Connection> =>
  createConnection({ uri, connectTimeout: TIME_LIMIT, ...options });

/** Creates a database for the calling test, with the current schema and without data. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `revenue_test_${randomBytes(6).toString("hex")}`;
  const template = inject("template");
  await onServer([
    `CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    ...template.tables.map(
      (table) => `CREATE TABLE ${name}.${table} LIKE ${template.database}.${table}`,
    ),
    ...MIGRATED.map(
      (table) => `INSERT INTO ${name}.${table} SELECT * FROM ${template.database}.${table}`,
    ),
  ]);
  const url = new URL(inject("databaseServer"));
  url.pathname = `/${name}`;
  const knex = testPool(url.href);
  return {
    url: url.href,
    name,
    knex,
    async drop() {
      await knex.destroy();
      await onServer([`DROP DATABASE ${name}`]);
    },
  };
}

/** Runs statements on the server, in one round trip. */
async function onServer(statements: readonly string[]): Promise<void> {
  const connection = await connectTo(inject("databaseServer"), { multipleStatements: true });
  try {
    await connection.query(statements.join(";"));
  } finally {
    await connection.end();
  }
}
