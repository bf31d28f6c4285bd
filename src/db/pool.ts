/**
 * The connection pool. Every session uses UTC, exact decimals and one SQL mode, whatever the
 * server's defaults.
 */
import knexModule, { type Knex } from "knex";
import type { Connection } from "mysql2";
import type { DatabaseUrl } from "../config.ts";

interface PoolOptions {
  /** Makes every session read-only on the server. Default: false. */
  readonly readOnly?: boolean;
  /** The time after which the server cancels a query, in ms. Default: no limit. */
  readonly maxQueryMs?: number;
  /** The size of the pool. Default: 10. */
  readonly maxConnections?: number;
  /** Called with Knex's warnings: a connection was lost while idle, for example. */
  readonly warn?: (message: string) => void;
}

/** The time limit for a new connection, and for a place in the pool, in ms. */
export const CONNECT_TIMEOUT = 2_000;
/** The time after which an idle connection is closed, in ms. Servers keep one for longer. */
const IDLE_TIMEOUT = 30_000;

const SQL_MODE = [
  "STRICT_TRANS_TABLES",
  "ONLY_FULL_GROUP_BY",
  "NO_ZERO_IN_DATE",
  "NO_ZERO_DATE",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "NO_ENGINE_SUBSTITUTION",
].join(",");

/** Creates a pool. It connects with the first query; `destroy()` closes it. */
export function createPool(url: DatabaseUrl, options: PoolOptions = {}): Knex {
  return knexModule(knexConfig(url, options));
}

/** Knex's configuration for a database. */
export function knexConfig(url: DatabaseUrl, options: PoolOptions = {}): Knex.Config {
  const warn = options.warn ?? (() => {});
  return {
    client: "mysql2",
    connection: {
      ...url,
      charset: "utf8mb4_bin",
      timezone: "Z",
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      connectTimeout: CONNECT_TIMEOUT,
    } as Knex.MySql2ConnectionConfig,
    acquireConnectionTimeout: CONNECT_TIMEOUT,
    // Keeps the values of a query out of error messages, which are logged.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: options.maxConnections ?? 10,
      idleTimeoutMillis: IDLE_TIMEOUT,
      afterCreate: (connection: Connection, done: (error: Error | null) => void) => {
        prepareSession(connection, options).then(() => done(null), done);
      },
    },
    log: { warn, error: warn, debug: () => {}, deprecate: warn },
  };
}

/**
 * Sets the session variables. Only MariaDB executes the first comment, only MySQL the second.
 * The isolation level is set here because `transaction({ isolationLevel, readOnly })` of Knex is a
 * syntax error on MySQL.
 */
async function prepareSession(
  connection: Connection,
  { readOnly = false, maxQueryMs = 0 }: PoolOptions,
): Promise<void> {
  const session = connection.promise();
  await session.query(
    `SET SESSION time_zone = '+00:00', sql_mode = '${SQL_MODE}'
     /*M! , max_statement_time = ${maxQueryMs / 1000} */
     /*!80000 , max_execution_time = ${maxQueryMs} */`,
  );
  await session.query(
    `SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ${readOnly ? ", READ ONLY" : ""}`,
  );
}
