/**
 * The clock of a run: the database's own, which also sets `recorded_at`, and the watermark that a
 * run may move to. It stays behind what may still commit.
 */
import type { Knex } from "knex";
import pRetry from "p-retry";
import { FIRST_INSTANT, fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { TABLES } from "../../coverage.ts";
import { FORMAT } from "../../sums.ts";

/** The instants of a run, as DATETIME(3) text in UTC. */
export interface Clock {
  /** When the run began. */
  readonly now: string;
  /** The watermark to move to: nothing that was recorded up to it can commit any more. */
  readonly until: string;
  /** What `until` waits for, if it does. */
  readonly waitsFor: Wait | undefined;
}

/** A transaction or a statement that holds the watermark back. */
export interface Wait {
  /**
   * When it began, in UTC. Undefined for a prepared XA transaction that has outlived a restart of the
   * server: it began before that.
   */
  readonly began: string | undefined;
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
const STATEMENT = "UTC_TIMESTAMP() - INTERVAL COALESCE(session.TIME, 0) + 1 SECOND";

/**
 * What may still commit rows with an earlier recording time:
 *
 * - Running statements. A row is recorded at the start of its statement, and InnoDB knows of no
 *   transaction before the first row: the statement may wait for a lock of its table, or read something
 *   slow first. Those that only read are left out afterwards.
 * - Open transactions that have written, or are about to. Their statement may have begun earlier.
 *
 * Sessions are listed before transactions, so that a statement that writes its first row in between is in
 * the second list. Sessions whose default database is another one are left out: they are other
 * systems on the same server. So are sessions that have ended, whose transactions InnoDB lists a
 * moment longer; a prepared XA transaction has the thread 0 then, on MySQL from the start.
 *
 * What threads of the server itself run (`system user`) is no statement of a writer. One of Group
 * Replication has a text as long as the server is in its group; an applier has one on some engines, and
 * applies what another node has committed: for that the sessions of a run wait (`pool.ts`). Their
 * open transactions count as all do. Those that Galera streams are of a thread that is not listed, so they do not.
 */
const PENDING = `SELECT ${STATEMENT} AS began, LEFT(session.INFO, 1000) AS statement, 0 AS detached
  FROM information_schema.PROCESSLIST AS session
  WHERE session.INFO IS NOT NULL AND session.ID <> CONNECTION_ID() AND session.USER <> 'system user'
    AND (session.DB = DATABASE() OR session.DB IS NULL)
  UNION ALL
  SELECT LEAST(${utcOf("trx.trx_started")},
    IF(session.COMMAND <> 'Sleep', ${STATEMENT}, UTC_TIMESTAMP())), NULL,
    trx.trx_mysql_thread_id = 0
  FROM information_schema.INNODB_TRX AS trx
  LEFT JOIN information_schema.PROCESSLIST AS session ON session.ID = trx.trx_mysql_thread_id
  WHERE (trx.trx_rows_modified > 0 OR trx.trx_tables_locked > 0 OR trx.trx_state = 'LOCK WAIT')
    AND (session.DB = DATABASE() OR (session.DB IS NULL
      AND (session.ID IS NOT NULL OR trx.trx_mysql_thread_id = 0)))`;

/** A row of `PENDING`. */
interface Pending {
  readonly began: string;
  readonly statement: string | null;
  readonly detached: string | number;
}

/**
 * What it lists. MySQL fails to list its sessions while one of them runs a statement with bytes that are
 * not text, so the query is repeated then.
 */
async function listPending(database: Knex): Promise<Pending[]> {
  const list = async (): Promise<Pending[]> => (await database.raw(PENDING))[0];
  const found = await pRetry(list, {
    retries: 20,
    minTimeout: 20,
    maxTimeout: 200,
    shouldRetry: ({ error }) => "code" in error && error.code === "ER_CANNOT_CONVERT_STRING",
  });
  return found.filter(({ statement }) => statement === null || mayWrite(statement));
}

/**
 * Statements that write no row of the ledger, by their first words: reads, and changes of the schema,
 * which may take hours. A read that calls a function which writes is taken for one.
 */
const NO_WRITE =
  /^(select|show|desc|describe|explain|do|alter|create|drop|optimize|check|analyze( \w+)? table)\b/i;

/** Whether a statement may write rows of the ledger. Without a reason to the contrary it may. */
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
  const [[{ instant }]] = await database.raw("SELECT UTC_TIMESTAMP(3) AS instant");
  const pending = seesTransactions ? await listPending(database) : [];
  const latest = fromDatetime(instant) - margin;
  const at = (until: number, waitsFor?: Wait): Clock => ({
    now: instant,
    until: toDatetime(Math.min(until, latest)),
    waitsFor,
  });
  if (await hasRecovered(database, instant, pending)) {
    return at(await latestWatermark(database, instant), { began: undefined });
  }
  const [began] = pending.map((each) => each.began).sort();
  const before = began === undefined ? latest : fromDatetime(began) - RESOLUTION;
  return before < latest ? at(before, { began }) : at(latest);
}

/**
 * From the start of the server to when its crash recovery must have ended, in s. On MySQL, an XA
 * transaction that is prepared within it cannot be told from one that was recovered.
 */
const RECOVERY = 1_800;

/**
 * Whether one of the transactions is an XA transaction that was prepared before the server was started.
 * It looks as if it had begun when it was recovered.
 */
async function hasRecovered(
  database: Knex,
  now: string,
  pending: readonly Pending[],
): Promise<boolean> {
  const detached = pending.filter(({ detached }) => Number(detached) === 1);
  if (detached.length === 0) return false;
  const [[{ Value: uptime }]] = await database.raw("SHOW GLOBAL STATUS LIKE 'Uptime'");
  const recovered = fromDatetime(now) - 1_000 * (Number(uptime) - RECOVERY);
  return detached.some(({ began }) => fromDatetime(began) < recovered);
}

/**
 * The latest watermark of all rollups, in epoch ms. Earlier runs have waited for whatever was open, so a
 * watermark that goes no further passes nothing of it.
 */
async function latestWatermark(database: Knex, now: string): Promise<number> {
  const latest = await database(TABLES.rollups)
    .where({ format: FORMAT, building: 0 })
    .where("watermark", "<=", now)
    .max("watermark AS at")
    .first();
  return fromDatetime(latest?.at ?? FIRST_INSTANT);
}
