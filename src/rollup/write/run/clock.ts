/**
 * The clock of a run: the database's own, which also sets `recorded_at`, and the watermark that a
 * run may move to. It stays behind what may still commit.
 */
import type { Knex } from "knex";
import pRetry from "p-retry";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";

/** The instants of a run, as DATETIME(3) text in UTC. */
export interface Clock {
  /** When the run began. */
  readonly now: string;
  /** The watermark to move to: nothing that was recorded up to it can commit any more. */
  readonly until: string;
  /** The start of the oldest transaction or statement that `until` waits for, if it does. */
  readonly waitsFor: string | undefined;
}

/** The resolution of the start of a transaction, in ms. */
const RESOLUTION = 1_000;

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
const STATEMENT = "UTC_TIMESTAMP() - INTERVAL session.TIME + 1 SECOND";

/**
 * The start, in UTC, of the oldest of what may still commit rows with an earlier recording time:
 *
 * - Statements that wait for a lock on a table. A row is recorded at the start of its statement, and
 *   InnoDB knows of no transaction until the lock is there. The states of waits leave out threads
 *   that wait for ever, such as those of replication.
 * - Open transactions that have written, or are about to: a statement that reads for long before it
 *   writes its first row has locked its table. Their statement may have begun, and waited, earlier.
 *
 * Sessions are listed before transactions, so that a statement that gets its lock in between is in
 * the second list. Sessions whose default database is another one are left out: they are other
 * systems on the same server. So are sessions that have ended, whose transactions InnoDB lists a
 * moment longer; a prepared XA transaction has the thread 0 then.
 */
const OLDEST = `SELECT MIN(started) AS started FROM (
  SELECT ${STATEMENT} AS started
  FROM information_schema.PROCESSLIST AS session
  WHERE session.STATE RLIKE '^Waiting for .*(lock|table flush)$'
    AND (session.DB = DATABASE() OR session.DB IS NULL)
  UNION ALL
  SELECT LEAST(${utcOf("trx.trx_started")},
    IF(session.COMMAND <> 'Sleep', ${STATEMENT}, UTC_TIMESTAMP()))
  FROM information_schema.INNODB_TRX AS trx
  LEFT JOIN information_schema.PROCESSLIST AS session ON session.ID = trx.trx_mysql_thread_id
  WHERE (trx.trx_rows_modified > 0 OR trx.trx_tables_locked > 0 OR trx.trx_state = 'LOCK WAIT')
    AND (session.DB = DATABASE() OR (session.DB IS NULL
      AND (session.ID IS NOT NULL OR trx.trx_mysql_thread_id = 0)))
) AS oldest`;

/**
 * The result of `OLDEST`; null if there is nothing to wait for. MySQL fails to list its sessions while
 * one of them runs a statement with bytes that are not text, so the query is repeated then.
 */
function oldestStart(database: Knex): Promise<string | null> {
  return pRetry(async () => (await database.raw(OLDEST))[0][0].started, {
    retries: 20,
    minTimeout: 20,
    maxTimeout: 200,
    shouldRetry: ({ error }) => "code" in error && error.code === "ER_CANNOT_CONVERT_STRING",
  });
}

/** The SQLSTATE of a query that the account has no right to. */
const ACCESS_DENIED = "42000";

/** Whether the account may see the transactions of others, which needs the privilege PROCESS. */
export async function canSeeTransactions(database: Knex): Promise<boolean> {
  try {
    await oldestStart(database);
    return true;
  } catch (error) {
    if (error instanceof Error && "sqlState" in error && error.sqlState === ACCESS_DENIED) {
      return false;
    }
    throw error;
  }
}

/**
 * Reads the clock.
 *
 * @param margin how long a writer's transaction may be open, in ms
 * @param seesTransactions whether to wait for transactions and statements that are older
 */
export async function readClock(
  database: Knex,
  margin: number,
  seesTransactions: boolean,
): Promise<Clock> {
  const [[{ now }]] = await database.raw("SELECT UTC_TIMESTAMP(3) AS now");
  const until = fromDatetime(now) - margin;
  const oldest = seesTransactions ? await oldestStart(database) : null;
  const before = oldest === null ? Number.POSITIVE_INFINITY : fromDatetime(oldest) - RESOLUTION;
  return {
    now,
    until: toDatetime(Math.min(until, before)),
    waitsFor: before < until ? (oldest ?? undefined) : undefined,
  };
}
