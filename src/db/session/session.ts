/**
 * A session: what a connection of the pool is on the server. Every session uses UTC, exact
 * decimals and one SQL mode, whatever the server's defaults, and knows its server and its id there.
 */
import type { Socket } from "node:net";
import type { Connection, RowDataPacket } from "mysql2";
import { isFailedSession } from "../driver-error.ts";

/** How a session is set up. */
export interface SessionOptions {
  /** Makes the session read-only on the server. Default: false. */
  readonly readOnly?: boolean;
  /** The time after which the server cancels a query, in ms. Default: no limit. */
  readonly maxQueryMs?: number;
}

/** A session of the pool. Times are in ms of `performance.now()`. */
export interface Session {
  /** `CONNECTION_ID()`. The id in the handshake may be a proxy's. */
  readonly id: string;
  /** The server; undefined if it did not tell. */
  readonly server: Server | undefined;
  readonly endpoint: Endpoint;
  readonly createdAt: number;
  /** When it answered last. */
  heardAt: number;
}

/** A database server. */
export interface Server {
  readonly identity: string;
  /** When any of its sessions answered last. */
  heardAt: number;
}

/** What a connection is made to: a server, or a proxy before several. Pools may share it. */
export interface Endpoint {
  /** Connections that have not answered since this time may have died with another. */
  trustedSince: number;
}

/** The time limit for a new connection, for its session, and for a visit to another session, in ms. */
export const CONNECT_TIMEOUT = 2_000;

const SQL_MODE = [
  "STRICT_TRANS_TABLES",
  "ONLY_FULL_GROUP_BY",
  "NO_ZERO_IN_DATE",
  "NO_ZERO_DATE",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "NO_ENGINE_SUBSTITUTION",
].join(",");

const sessions = new WeakMap<Connection, Session>();
/** Servers by identity: as many as there are nodes. */
const servers = new Map<string, Server>();
/** Endpoints by host and port. */
const endpoints = new Map<string, Endpoint>();

/** The session of a connection of a pool that `createPool` has created. */
export function sessionOf(connection: Connection): Session {
  const session = sessions.get(connection);
  if (session === undefined) throw new Error("the connection has no session");
  return session;
}

/** Whether nothing has happened since a session answered that casts doubt on it. */
export function isTrusted({ heardAt, endpoint }: Session): boolean {
  return heardAt > endpoint.trustedSince;
}

/** Records that a session failed to answer a statement that was sent at `since`. */
export function recordSilence({ endpoint }: Session, since: number): void {
  endpoint.trustedSince = Math.max(endpoint.trustedSince, since);
}

/** Records that a session has answered. */
export function recordAnswer(session: Session): void {
  session.heardAt = performance.now();
  if (session.server) session.server.heardAt = session.heardAt;
}

/**
 * Sets up the session of a new connection. If that fails, or takes longer than `CONNECT_TIMEOUT`,
 * the connection is closed.
 */
export async function prepareSession(
  connection: Connection,
  options: SessionOptions,
): Promise<void> {
  // Knex removes the listeners of a connection that it closes. Without one, a late error of the
  // socket (the host is gone) would be uncaught and end the process.
  connection.removeAllListeners = () => connection.on("error", () => {});
  try {
    await withTimeout(setVariables(connection, options));
    const identity = await withTimeout(identify(connection));
    const now = performance.now();
    sessions.set(connection, {
      id: identity.id,
      server:
        identity.server === undefined
          ? undefined
          : servers.getOrInsertComputed(identity.server, (name) => ({
              identity: name,
              heardAt: now,
            })),
      endpoint: endpointOf(connection),
      createdAt: now,
      heardAt: now,
    });
  } catch (error) {
    discard(connection);
    throw error;
  }
}

function endpointOf({ config: { host, port } }: Connection): Endpoint {
  return endpoints.getOrInsertComputed(`${host}:${port}`, () => ({ trustedSince: 0 }));
}

/**
 * Sets the session variables. Only MariaDB executes the comments with M, only MySQL those with
 * 80000 and only TiDB those with T: it refuses READ ONLY, which it ignores, unless told otherwise.
 * The isolation level is set here because `transaction({ isolationLevel, readOnly })` of Knex is a
 * syntax error on MySQL.
 */
async function setVariables(
  connection: Connection,
  { readOnly = false, maxQueryMs = 0 }: SessionOptions,
): Promise<void> {
  const session = connection.promise();
  await session.query(
    `SET SESSION time_zone = '+00:00', sql_mode = '${SQL_MODE}'
     /*M! , max_statement_time = ${maxQueryMs / 1000} */
     /*!80000 , max_execution_time = ${maxQueryMs} */
     /*T! , tidb_enable_noop_functions = 1 */`,
  );
  await session.query(
    `SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ${readOnly ? ", READ ONLY" : ""}`,
  );
}

/** A session's id on its server, and the server. */
interface Identity {
  readonly id: string;
  /** Undefined if the server, or a proxy before it, does not know one of the variables. */
  readonly server: string | undefined;
}

/**
 * Asks a session where it is. One statement, because a proxy may send each to another server.
 * MariaDB has no `server_uuid`; its nodes differ in host name, port or data directory.
 */
export async function identify(connection: Connection): Promise<Identity> {
  try {
    const [rows] = await connection.promise().query<RowDataPacket[]>(
      `SELECT CAST(CONNECTION_ID() AS CHAR) AS id,
       CONCAT_WS(' ', @@hostname, @@port, @@server_id, @@datadir /*!80000 , @@server_uuid */) AS server`,
    );
    return { id: String(rows[0]?.id), server: rows[0]?.server ?? undefined };
  } catch (error) {
    const refused = "sqlState" in (error as object) && !isFailedSession(error);
    if (refused) return { id: "", server: undefined };
    throw error;
  }
}

/** Closes a connection at once, also if nobody answers at its other end. */
export function discard(connection: Connection): void {
  connection.destroy(); // sends FIN and leaves the socket to the peer
  (connection as unknown as { readonly stream: Socket }).stream.destroy();
}

/** Rejects if the promise has not settled within `CONNECT_TIMEOUT`. */
export async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`no answer from the database within ${CONNECT_TIMEOUT} ms`);
    timeout.reject(Object.assign(error, { code: "ETIMEDOUT" }));
  }, CONNECT_TIMEOUT);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
