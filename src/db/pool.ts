/**
 * Connections to the database: a pool whose every connection speaks UTC, exact
 * decimals and one pinned SQL mode, whatever the server's defaults are.
 */
import knexModule, { type Knex } from "knex";
import type { Connection } from "mysql2";
import type { DatabaseUrl } from "../config.ts";

export interface PoolOptions {
  /** Refuses every write on the server's side too. Off by default: commands write. */
  readonly readOnly?: boolean;
  /** After how many ms the server itself ends a query; by default it never does. */
  readonly longestQuery?: number;
  /** The most connections at once; 10 by default. */
  readonly pool?: number;
  /** Is told what Knex warns of (a connection that was lost while idle, …). */
  readonly warn?: (message: string) => void;
}

/** How long a new connection, or a place in the pool, is waited for, in ms. */
export const CONNECT_TIMEOUT = 2_000;
/** After how long an idle connection is given back, in ms; below what any server keeps one. */
const IDLE_TIMEOUT = 30_000;

const SQL_MODE = [
  "STRICT_TRANS_TABLES",
  "ONLY_FULL_GROUP_BY",
  "NO_ZERO_IN_DATE",
  "NO_ZERO_DATE",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "NO_ENGINE_SUBSTITUTION",
].join(",");

/** Opens a pool. No connection is made before the first query; end it with `destroy()`. */
export function createPool(url: DatabaseUrl, purpose: PoolOptions = {}): Knex {
  return knexModule(knexConfig(url, purpose));
}

/** Knex's configuration for a database, for `connect` and for `knexfile.ts`. */
export function knexConfig(url: DatabaseUrl, purpose: PoolOptions = {}): Knex.Config {
  const warn = purpose.warn ?? (() => {});
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
    // A query's text may appear in a logged error; its values never do.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: purpose.pool ?? 10,
      idleTimeoutMillis: IDLE_TIMEOUT,
      afterCreate: (connection: Connection, done: (error: Error | null) => void) => {
        prepareSession(connection, purpose).then(() => done(null), done);
      },
    },
    log: { warn, error: warn, debug: () => {}, deprecate: warn },
  };
}

/**
 * Sets what must be the same on every connection. The isolation is set here, once:
 * asking for it together with `readOnly` at each transaction is a syntax error that
 * Knex makes on MySQL. The comments are executed by MariaDB alone and by MySQL alone.
 */
async function prepareSession(
  connection: Connection,
  { readOnly = false, longestQuery = 0 }: PoolOptions,
): Promise<void> {
  const session = connection.promise();
  await session.query(
    `SET SESSION time_zone = '+00:00', sql_mode = '${SQL_MODE}'
     /*M! , max_statement_time = ${longestQuery / 1000} */
     /*!80000 , max_execution_time = ${longestQuery} */`,
  );
  await session.query(
    `SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ${readOnly ? ", READ ONLY" : ""}`,
  );
}
