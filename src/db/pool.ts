/** The connection pool. */
import knexModule, { type Knex } from "knex";
import type { Connection } from "mysql2";
import { createConnection } from "mysql2/promise";
import type { DatabaseTarget, DatabaseUrl } from "../config.ts";
import {
  CONNECT_TIMEOUT,
  type ConnectOptions,
  isTrusted,
  type PoolState,
  prepareSession,
} from "./session.ts";

interface PoolOptions extends ConnectOptions {
  /** The size of the pool. Default: `POOL_SIZE`. */
  readonly maxConnections?: number;
  /** The longest life of a connection, in ms. Default: `MAX_LIFETIME`, and up to a minute more. */
  readonly maxLifetime?: number;
  /** Called with Knex's warnings: a connection was lost while idle, for example. */
  readonly warn?: (message: string) => void;
}

/** The size of the pool by default. */
export const POOL_SIZE = 10;
/** The time after which an idle connection is closed, in ms. Servers keep one for longer. */
const IDLE_TIMEOUT = 30_000;
/** The statements that are prepared on a connection: a few for each RPC, and three for keys. */
const MAX_PREPARED_STATEMENTS = 100;
/** After how long without traffic TCP asks whether the other end is there, in ms. */
const KEEP_ALIVE_DELAY = 5_000;
/**
 * The longest life of a connection, in ms. After a failover the connections thus find their way
 * back to the server they belong to.
 */
const MAX_LIFETIME = 300_000;
/** What is added to it at random, as a share of it, so that not all connections end at once. */
const LIFETIME_JITTER = 0.2;

export { CONNECT_TIMEOUT } from "./session.ts";

/** Creates a pool. It connects with the first query; `destroy()` closes it. */
export function createPool(url: DatabaseTarget, options: PoolOptions = {}): Knex {
  return knexModule(knexConfig(url, options));
}

/**
 * The connections of a pool: those that are idle, and those that are lent or being made. Knex has no
 * public way to tell them: https://github.com/knex/knex/issues/4107. If this one ends,
 * test/end-to-end/telemetry/calls.test.ts fails.
 */
export function poolState({ client }: Knex): { readonly idle: number; readonly used: number } {
  const pool = (client as Knex.Client).pool as { numFree(): number; numUsed(): number } | undefined;
  return { idle: pool?.numFree() ?? 0, used: pool?.numUsed() ?? 0 };
}

/** Makes a connection of its own within a time, in ms, and closes it. Rejects with the driver's error. */
export async function tryConnect(url: DatabaseTarget, connectTimeout?: number): Promise<void> {
  const connection = await createConnection(connectionOptions(currentOf(url), connectTimeout));
  // It may fail after its end, when nobody listens any more.
  connection.on("error", () => {});
  // Ends the session: MariaDB logs a warning for each connection that is closed without that.
  connection.end().catch(() => {});
  connection.destroy();
}

/** Where a connection that is made now leads. */
const currentOf = (url: DatabaseTarget) => (typeof url === "function" ? url() : url);

/** The driver's options for a database. */
function connectionOptions(url: DatabaseUrl, connectTimeout = CONNECT_TIMEOUT) {
  return {
    ...url,
    charset: "utf8mb4_bin",
    timezone: "Z",
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout,
    // The driver allocates room for this many with every attempt to connect; 16,000 by default.
    maxPreparedStatements: MAX_PREPARED_STATEMENTS,
    enableKeepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_DELAY,
  };
}

/** What Knex connects with. It asks a function again once what that gave last is out of date. */
function connectionConfig(url: DatabaseTarget, connectTimeout?: number) {
  const optionsFor = (current: DatabaseUrl) =>
    connectionOptions(current, connectTimeout) as Knex.MySql2ConnectionConfig;
  if (typeof url !== "function") return optionsFor(url);
  return () => {
    const given = url();
    return { ...optionsFor(given), expirationChecker: () => url() !== given };
  };
}

/** Knex's configuration for a database. */
export function knexConfig(url: DatabaseTarget, options: PoolOptions = {}): Knex.Config {
  const { warn = () => {}, maxLifetime = MAX_LIFETIME } = options;
  const state: PoolState = { trustedSince: 0 };
  return {
    client: "mysql2",
    // Otherwise the first connection asks for the version, without a time limit, and all others
    // wait for its answer.
    version: "latest",
    connection: connectionConfig(url, options.connectTimeout),
    acquireConnectionTimeout: options.connectTimeout ?? CONNECT_TIMEOUT,
    // Keeps the values of a query out of error messages, which are logged.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: options.maxConnections ?? POOL_SIZE,
      idleTimeoutMillis: IDLE_TIMEOUT,
      maxConnectionLifetimeMillis: maxLifetime,
      maxConnectionLifetimeJitterMillis: maxLifetime * LIFETIME_JITTER,
      afterCreate: (connection: Connection, done: (error: Error | null) => void) => {
        prepareSession(connection, options, state).then(() => done(null), done);
      },
      validate: isTrusted,
    },
    log: { warn, error: warn, debug: () => {}, deprecate: warn },
  };
}
