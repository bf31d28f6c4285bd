/** A database for one test file: empty, with the service's tables, on the run's server. */
import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { createConnection } from "mysql2/promise";
import { inject } from "vitest";
import { parseDatabaseUrl } from "../../src/config.ts";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { createPool } from "../../src/db/pool.ts";

export interface TestDatabase {
  /** What the service takes as DATABASE_URL. Its account may do everything on the server. */
  readonly url: string;
  /** The database's name. */
  readonly name: string;
  /** A pool of connections to it, as the service's commands have. */
  readonly knex: Knex;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** Creates a database of its own for the calling test, up to date and without a row. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `revenue_test_${randomBytes(6).toString("hex")}`;
  await onServer(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);

  const url = new URL(inject("databaseServer"));
  url.pathname = `/${name}`;
  const knex = createPool(parseDatabaseUrl(url.href));
  await migrateToLatest(knex);
  return {
    url: url.href,
    name,
    knex,
    async drop() {
      await knex.destroy();
      await onServer(`DROP DATABASE ${name}`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const connection = await createConnection(inject("databaseServer"));
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
