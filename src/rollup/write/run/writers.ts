/**
 * Who may still commit rows of the ledger that were recorded earlier: transactions and statements that are
 * open. Which of them write the ledger, their metadata locks tell (`locks.ts`).
 */
import type { Knex } from "knex";
import pRetry from "p-retry";
import { fromDatetime } from "../../../db/datetime.ts";
import { type Lock, type Locks, readLocks } from "./locks.ts";

/** A transaction or a statement that may still commit rows of the ledger. */
export interface Writer {
  /** When it began, in UTC. That of a transaction that has outlived a restart is the restart's. */
  readonly began: string;
  /** Its session, as in `PROCESSLIST`; undefined for a prepared XA transaction, which has none. */
  readonly session: number | undefined;
  /** The user of the session. */
  readonly user: string | undefined;
  /** The default database of the session, if it has one. */
  readonly database: string | undefined;
  /** Why it counts although nothing tells whether it writes the ledger, if that is so. */
  readonly doubt: string | undefined;
}

/**
 * SQL for the instant, in UTC, of a time in the zone of the server's operating system. When clocks are
 * put back, an hour comes twice: CONVERT_TZ takes the later instant, this the earlier.
 */
export function utcOf(local: string): string {
  const utc = `CONVERT_TZ(${local}, 'SYSTEM', '+00:00')`;
  const localOf = (instant: string) => `CONVERT_TZ(${instant}, '+00:00', 'SYSTEM')`;
  const dayBefore = `${utc} - INTERVAL 1 DAY`;
  const offset = `TIMESTAMPDIFF(SECOND, ${dayBefore}, ${localOf(dayBefore)})`;
  const earlier = `${local} - INTERVAL ${offset} SECOND`;
  return `IF(${localOf(earlier)} = ${local}, ${earlier}, ${utc})`;
}

/**
 * The start of the running statement of `session`. `TIME` is in whole seconds, and on MariaDB by
 * another clock, so a second more is taken off.
 */
const STATEMENT = "UTC_TIMESTAMP() - INTERVAL COALESCE(session.TIME, 0) + 1 SECOND";

/**
 * What may still commit rows with an earlier recording time:
 *
 * - Running statements. A row is recorded at the start of its statement, and InnoDB knows of no
 *   transaction before the first row: the statement may wait for a lock of its table, or read something
 *   slow first.
 * - Open transactions that have written, or are about to. Their statement may have begun earlier.
 *
 * Sessions are listed before transactions, so that a statement that writes its first row in between is in
 * the second list. Sessions that have ended, whose transactions InnoDB lists a moment longer, are left out;
 * a prepared XA transaction has the thread 0 then, on MySQL from the start.
 *
 * What threads of the server itself run (`system user`) is no statement of a writer. One of Group
 * Replication has a text as long as the server is in its group; an applier has one on some engines, and
 * applies what another node has committed: for that the sessions of a run wait (`pool.ts`). Their
 * open transactions count as all do. Those that Galera streams are of a thread that is not listed, so they do not.
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
    AND (session.ID IS NOT NULL OR trx.trx_mysql_thread_id = 0)`;

/** A row of `PENDING`. */
interface Pending {
  readonly began: string;
  /** The text of a running statement; null for a transaction. */
  readonly statement: string | null;
  /** The session; 0 for a prepared XA transaction. */
  readonly id: string | number;
  readonly account: string | null;
  readonly db: string | null;
}

/**
 * What it lists. MySQL fails to list its sessions while one of them runs a statement with bytes that are
 * not text, so the query is repeated then.
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

/**
 * Finds who may still commit rows of the ledger, the oldest first.
 *
 * - Where metadata locks can be read, who holds or awaits a lock to write it, whatever the schema.
 * - Elsewhere, whoever may write anything, but in `ignoredSchemas`.
 * - Prepared XA transactions, in any case: no session has their locks.
 *
 * Locks are read after the two lists: one who gets a lock in between is in a list.
 *
 * @param before who began at this instant or later is left out, in epoch ms
 * @param ignoredSchemas default databases of sessions that do not write the ledger
 */
export async function findWriters(
  database: Knex,
  before: number,
  ignoredSchemas: readonly string[],
): Promise<Writer[]> {
  const all = await listPending(database);
  const isDetached = ({ id }: Pending) => Number(id) === 0;
  const old = all.filter((each) => isDetached(each) || fromDatetime(each.began) < before);
  const sessions = old.map(({ id }) => Number(id)).filter((id) => id !== 0);
  const { locks, hidden } = sessions.length > 0 ? await readLocks(database, sessions) : NO_LOCKS;
  const counts = (pending: Pending) =>
    isDetached(pending) ||
    (locks
      ? writesLedger(pending.statement, locks.get(Number(pending.id)) ?? [])
      : mayWrite(pending.statement) && !ignoredSchemas.includes(pending.db ?? ""));
  return old
    .filter(counts)
    .map((pending) => ({
      began: pending.began,
      session: Number(pending.id) || undefined,
      user: pending.account ?? undefined,
      database: pending.db ?? undefined,
      doubt: isDetached(pending) ? undefined : hidden,
    }))
    .sort((left, right) => fromDatetime(left.began) - fromDatetime(right.began));
}

/** Nobody is listed whose locks could be looked at. */
const NO_LOCKS: Locks = { locks: new Map<number, readonly Lock[]>(), hidden: undefined };

/**
 * Whether a transaction, or a statement with a text, writes the ledger or may come to it, by the locks of
 * its session. It may if these are not all that it will have:
 *
 * - It shows none of a table. A statement has yet to open its tables (it waits for its group, or for a
 *   backup), or the locks were taken when they were not listed. One that ended after it was listed counts
 *   once more, which a margin of minutes does not notice.
 * - A statement awaits one: that of its trigger comes after that of its table.
 */
function writesLedger(statement: string | null, locks: readonly Lock[]): boolean {
  if (locks.some(({ writes }) => writes === "rows")) return true;
  if (!mayWrite(statement)) return false;
  return (
    locks.some(({ writes }) => writes === "table") ||
    !locks.some(({ isTable, isPending }) => isTable && !isPending) ||
    (statement !== null && locks.some(({ isPending }) => isPending))
  );
}

/**
 * Statements that write no row of the ledger, by their first words: reads, changes of the schema,
 * which may take hours, and locks. A read that calls a function which writes is taken for one.
 */
const NO_WRITE =
  /^(select|show|desc|describe|explain|do|alter|create|drop|optimize|check|analyze( \w+)? table|flush|lock|backup)\b/i;

/** Whether a transaction, or a statement with a text, may write rows. Without a reason to the contrary it may. */
export function mayWrite(statement: string | null): boolean {
  if (statement === null) return true;
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

/** Why the locks that tell who writes the ledger are hidden from the account, if they are. */
export async function whyLocksAreHidden(database: Knex): Promise<string | undefined> {
  const { hidden } = await readLocks(database, [0]);
  return hidden;
}
