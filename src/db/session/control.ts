/**
 * Looks after sessions from outside, over a connection of its own: is the server still working on
 * the statement, and if nobody wants the answer, end it.
 *
 * Behind a balancer that connection may reach another server, where the session's id is somebody
 * else's. So a session is only killed on the server that it is on, and only if that has not been
 * restarted since. Elsewhere the server's own time limit ends the statement.
 */
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import { discard, identify, type Session, withTimeout } from "./session.ts";

/** How many connections for control may be open at once. Each serves all visits that wait. */
const MAX_CONNECTIONS = 2;

/**
 * What became of a session.
 *
 * - working: the server executes a statement; it was ended if that was asked for.
 * - silent: it executes none, or the session is gone. An answer that did not arrive is lost.
 * - unknown: the server could not be asked.
 */
export type SessionState = "working" | "silent" | "unknown";

/** A question about a session. */
interface Visit {
  readonly session: Session;
  /** When its statement was sent, in ms of `performance.now()`. */
  readonly since: number;
  /** Whether the session is ended even if it is working. A silent one always is. */
  readonly end: boolean;
}

/** Visits a session. Never rejects, and takes at most `CONNECT_TIMEOUT`. */
export type VisitSession = (visit: Visit) => Promise<SessionState>;

/** Creates the control of the sessions of one pool. */
export function createSessionControl(client: Knex.Client): VisitSession {
  const waiting: { visit: Visit; resolve: (state: SessionState) => void }[] = [];
  let connections = 0;

  async function serveVisits(): Promise<void> {
    let connection: Connection | undefined;
    let end = discard;
    connections++;
    try {
      connection = (await client.acquireRawConnection()) as Connection;
      const place = await withTimeout(locate(connection));
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        try {
          next.resolve(await withTimeout(examine(connection, place, next.visit)));
        } catch (error) {
          next.resolve("unknown");
          throw error;
        }
      }
      end = quit;
    } catch {
      for (const { resolve } of waiting.splice(0)) resolve("unknown");
    } finally {
      connections--;
      if (connection) end(connection);
    }
  }

  return (visit) => {
    const { promise, resolve } = Promise.withResolvers<SessionState>();
    waiting.push({ visit, resolve });
    if (connections < MAX_CONNECTIONS) serveVisits();
    return withTimeout(promise).catch(() => "unknown");
  };
}

/** Ends a connection as a client should: otherwise the server counts it as aborted, and logs it. */
function quit(connection: Connection): void {
  withTimeout(connection.promise().end())
    .catch(() => {})
    .finally(() => discard(connection));
}

/** Where a connection for control is. */
interface Place {
  readonly server: string | undefined;
  /** When the server was started, in ms of `performance.now()`; up to a second too early. */
  readonly startedAt: number;
}

async function locate(connection: Connection): Promise<Place> {
  const { server } = await identify(connection);
  const [rows] = await connection
    .promise()
    .query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Uptime'");
  const seconds = Number(rows[0]?.Value) + 1;
  return { server, startedAt: performance.now() - seconds * 1_000 };
}

async function examine(
  connection: Connection,
  place: Place,
  { session, since, end }: Visit,
): Promise<SessionState> {
  const { server, id, createdAt } = session;
  if (server === undefined) return "unknown";
  // If the session's server has been silent too, it is gone: a failover. A read is asked again;
  // nothing follows for a statement that nobody waits for.
  if (server.identity !== place.server) return end || server.heardAt > since ? "unknown" : "silent";
  if (place.startedAt > createdAt) return "silent";
  const [processes] = await connection.promise().query<RowDataPacket[]>("SHOW PROCESSLIST");
  const process = processes.find(({ Id }) => String(Id) === id);
  if (process === undefined) return "silent";
  const state = process.Command === "Sleep" ? "silent" : "working";
  // KILL QUERY has no effect if it arrives before the query does, so the session is ended.
  if (end || state === "silent") await connection.promise().query(`KILL ${BigInt(id)}`);
  return state;
}
