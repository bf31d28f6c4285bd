/**
 * One attempt to run a statement: on a connection of the pool, which stays in the pool only if its
 * session can be used again.
 *
 * Knex's `raw` cannot prepare statements, so an attempt borrows a connection from Knex's pool. The
 * methods that borrow and return it are declared in Knex's types but not documented; if they
 * change, the types and test/database/db/query.test.ts fail.
 */
import type { Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import { ServiceError } from "../../errors.ts";
import { isFailedSession, toServiceError } from "../driver-error.ts";
import { StaleAnswer } from "../freshness.ts";
import { answerOf, type Caller, NoAnswer } from "./answer.ts";
import { createSessionControl } from "./control.ts";
import {
  discard,
  isTrusted,
  recordAnswer,
  recordSilence,
  type Server,
  type Session,
  sessionOf,
} from "./session.ts";

/** How long a server is not asked again whose data was too old for every caller, in ms. */
const STALE_FOR = 500;

/** One row: the text of each column, or null. Columns of other types need a CAST. */
export type Row = readonly (string | null)[];

/** The value of a `?`: text, which the database converts to a number or an instant, or bytes. */
export type Binding = string | Buffer;

/** Which server is asked, and which answers are taken. */
export interface AttemptOptions {
  /** The identity of the server to ask, if a connection to it is idle. Default: any. */
  readonly server?: string | undefined;
  /**
   * Called with the rows and the identity of the server that they are from. If it throws a
   * `StaleAnswer`, they are not taken.
   */
  readonly check?: (rows: readonly Row[], server: string | undefined) => void;
  /** Called when the attempt has a connection. */
  readonly onConnection?: () => void;
}

/** An attempt failed because of its connection. The cause is what went wrong. */
export class FailedAttempt extends Error {
  override readonly name = "FailedAttempt";
  /** Whether the connection came from the pool, and may have been bad for long. It has left it. */
  readonly pooled: boolean;

  constructor(cause: unknown, pooled: boolean) {
    super("the connection failed", { cause });
    this.pooled = pooled;
  }
}

/**
 * Makes one attempt. Settles only when the connection is free again, also if the caller leaves.
 * Rejects with a `FailedAttempt` if another attempt may succeed, else with a `ServiceError`.
 */
type Attempt = (
  sql: string,
  bindings: readonly Binding[],
  options: AttemptOptions,
  caller: Caller,
) => Promise<Row[]>;

/**
 * Creates the attempts on one pool.
 *
 * @param timeout see `ReadLimits.firstByteTimeout`, in ms
 */
export function createAttempt(client: Knex.Client, timeout: number): Attempt {
  const visit = createSessionControl(client);
  const pool = client.pool as { numFree(): number };
  /** When a server's data was found too old, in ms of `performance.now()`, and how it was told. */
  const staleAt = new WeakMap<Server, { readonly at: number; readonly answer: StaleAnswer }>();

  /** Whether nothing has cast doubt on a session since it answered. */
  function isUsable(session: Session): boolean {
    const stale = session.server && staleAt.get(session.server);
    return isTrusted(session) && (stale === undefined || session.heardAt > stale.at);
  }

  /** The answer of a server whose data was found too old a moment ago: it would give it again. */
  function recentlyStale({ server }: Session): StaleAnswer | undefined {
    const stale = server && staleAt.get(server);
    return stale && performance.now() - stale.at < STALE_FOR ? stale.answer : undefined;
  }

  /** Borrows a connection: one to the server, if it is idle. */
  async function borrow(server: string | undefined): Promise<Connection> {
    const others: Connection[] = [];
    try {
      for (;;) {
        const connection: Connection = await client.acquireConnection();
        const session = sessionOf(connection);
        const isMeant = server === undefined || session.server?.identity === server;
        if (!isUsable(session)) {
          discard(connection);
          client.releaseConnection(connection);
        } else if (isMeant || pool.numFree() === 0) return connection;
        else others.push(connection);
      }
    } catch (error) {
      if (isFailedSession(error)) throw new FailedAttempt(error, false);
      throw toServiceError(error, client.config.acquireConnectionTimeout);
    } finally {
      for (const other of others) client.releaseConnection(other);
    }
  }

  /** Judges a connection that failed, and returns the error to throw. */
  function failure(error: unknown, session: Session, since: number, pooled: boolean) {
    if (error instanceof StaleAnswer) {
      if (error.forEverybody && session.server && error !== recentlyStale(session)) {
        staleAt.set(session.server, { at: session.heardAt, answer: error });
      }
      return new FailedAttempt(error, pooled);
    }
    const state = error instanceof NoAnswer ? error.state : "silent";
    if (state === "silent") recordSilence(session, since);
    return new FailedAttempt(error, pooled);
  }

  return async (sql, bindings, { server, check, onConnection }, caller) => {
    const began = performance.now();
    const connection = await borrow(server);
    onConnection?.();
    const session = sessionOf(connection);
    // A connection that was made for this attempt has not died in the pool.
    const pooled = session.createdAt < began;
    const since = performance.now();
    try {
      if (caller.gone) throw new ServiceError("canceled"); // while the connection was made
      const stale = recentlyStale(session);
      if (stale !== undefined) throw stale;
      const rows = await answerOf(execute(connection, sql, bindings), {
        session,
        since,
        caller,
        visit,
        timeout: pooled ? timeout : Infinity,
      });
      recordAnswer(session);
      check?.(rows, session.server?.identity);
      return rows;
    } catch (error) {
      if (!mustLeave(error)) throw toServiceError(error);
      discard(connection);
      throw failure(error, session, since, pooled);
    } finally {
      client.releaseConnection(connection);
    }
  };
}

/** Whether the connection of a statement that failed must not be used again. */
function mustLeave(error: unknown): boolean {
  const { fatal } = error as { readonly fatal?: unknown };
  return error instanceof StaleAnswer || isFailedSession(error) || fatal === true;
}

/** Runs a prepared statement. The driver prepares it once per connection. */
function execute(
  connection: Connection,
  sql: string,
  bindings: readonly Binding[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.execute<RowDataPacket[][]>(
      { sql, values: bindings as Binding[], rowsAsArray: true },
      (error, rows) => (error ? reject(error) : resolve(rows as unknown as Row[])),
    );
  });
}
