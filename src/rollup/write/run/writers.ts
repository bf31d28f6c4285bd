/**
 * Who may still commit rows that were recorded earlier: transactions that have written, and running statements that
 * may. Whatever their schema: a trigger, a view or a function may lead to the ledger from any.
 */
import type { Knex } from "knex";
import pRetry from "p-retry";

/** A transaction or a statement that may still commit rows. */
export interface Writer {
  /** When it began, in UTC, or up to an hour earlier. */
  readonly began: string;
  /** Its session, as in `PROCESSLIST`; undefined for a prepared XA transaction, which has none. */
  readonly session: number | undefined;
  /** The user of the session. */
  readonly user: string | undefined;
  /** The default database of the session, if it has one. */
  readonly database: string | undefined;
}

/**
 * SQL for the instant, in UTC, of a time in the zone of the server's operating system; or an earlier one. When clocks
 * are put back, an hour comes twice, of which CONVERT_TZ takes the later one: an hour before and after it is the earlier.
 */
export function utcOf(local: string): string {
  const utc = (time: string) => `CONVERT_TZ(${time}, 'SYSTEM', '+00:00')`;
  return `LEAST(${utc(local)}, ${utc(`${local} - INTERVAL 1 HOUR`)} + INTERVAL 1 HOUR)`;
}

/** The start of the running statement of `session`: `TIME` is in whole seconds, and on MariaDB by another clock. */
const STATEMENT = "UTC_TIMESTAMP() - INTERVAL COALESCE(session.TIME, 0) + 1 SECOND";

/**
 * Running statements, since InnoDB knows of no transaction before it has read or written a row; and transactions that
 * have written, or wait for a lock to, since the earlier of their start and that of their statement. Sessions come
 * first: one that writes its first row in between is in the second list.
 *
 * Threads of the server itself (`system user`) count by their transactions alone: one of Group Replication runs a
 * statement as long as the server is in its group. Sessions that have ended, which InnoDB lists a moment longer, write
 * no more; a prepared XA transaction without a session has the thread 0.
 */
const PENDING = `SELECT ${STATEMENT} AS began, LEFT(session.INFO, 1000) AS statement,
    session.ID AS id, session.USER AS account, session.DB AS db
  FROM information_schema.PROCESSLIST AS session
  WHERE session.INFO IS NOT NULL AND session.ID <> CONNECTION_ID() AND session.USER <> 'system user'
  UNION ALL
  SELECT LEAST(${utcOf("trx.trx_started")},
    IF(session.COMMAND <> 'Sleep', ${STATEMENT}, UTC_TIMESTAMP())), NULL,
    trx.trx_mysql_thread_id, session.USER, session.DB
  FROM information_schema.INNODB_TRX AS trx
  LEFT JOIN information_schema.PROCESSLIST AS session ON session.ID = trx.trx_mysql_thread_id
  WHERE (trx.trx_rows_modified > 0 OR trx.trx_tables_locked > 0 OR trx.trx_state = 'LOCK WAIT')
    AND (session.ID IS NOT NULL OR trx.trx_mysql_thread_id = 0)
  ORDER BY began`;

/** A row of `PENDING`. */
interface Pending {
  readonly began: string;
  /** The text of a running statement; null for a transaction. */
  readonly statement: string | null;
  readonly id: string | number;
  readonly account: string | null;
  readonly db: string | null;
}

/**
 * What it lists, the oldest first. MySQL fails to list its sessions while one of them runs a statement with bytes that
 * are not text, so the query is repeated then.
 */
async function listPending(database: Knex): Promise<Pending[]> {
  const list = async (): Promise<Pending[]> => (await database.raw(PENDING))[0];
  return pRetry(list, {
    retries: 20,
    minTimeout: 20,
    maxTimeout: 200,
    shouldRetry: ({ error }) => "code" in error && error.code === "ER_CANNOT_CONVERT_STRING",
  });
}

/** The oldest that may still commit rows, if there is one. */
export async function findOldestWriter(database: Knex): Promise<Writer | undefined> {
  const all = await listPending(database);
  const oldest = all.find(({ statement }) => statement === null || mayWrite(statement));
  return (
    oldest && {
      began: oldest.began,
      session: Number(oldest.id) || undefined,
      user: oldest.account ?? undefined,
      database: oldest.db ?? undefined,
    }
  );
}

/**
 * Statements that begin as a read, as a change of the schema, which may take hours, or as a lock. A read that calls a
 * function which writes counts once it has written.
 */
const NO_WRITE =
  /^(select|show|desc|describe|explain|do|alter|create|drop|optimize|check|analyze( \w+)? table|flush|lock|backup)\b/i;

/** Whether a statement may write rows. Without a reason to the contrary it may. */
export function mayWrite(statement: string): boolean {
  const text = statement
    .replace(/^(\s|\(|\/\*.*?\*\/|(--(?=\s)|#)[^\n]*\n)+/s, "")
    .replace(/\s+/g, " ");
  return !NO_WRITE.test(text);
}

/** The SQLSTATEs of a query that the account has no right to, and of a table that there is not (TiDB). */
const NOT_VISIBLE = new Set<unknown>(["42000", "42S02"]);

/** Whether the account may see the transactions and statements of others, which needs the privilege PROCESS. */
export async function canSeeTransactions(database: Knex): Promise<boolean> {
  try {
    await listPending(database);
    return true;
  } catch (error) {
    if (error instanceof Error && "sqlState" in error && NOT_VISIBLE.has(error.sqlState)) {
      return false;
    }
    throw error;
  }
}
