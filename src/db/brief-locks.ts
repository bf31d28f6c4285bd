/**
 * Migrations beside open transactions. A statement that changes a table waits for each transaction that has read it,
 * and everybody else who uses the table waits behind that statement: writers, and every call. So it waits for a second
 * at most, and is tried again after a pause, in which they go on.
 */
import type { Knex } from "knex";
import pRetry from "p-retry";
import type { SessionOptions } from "./session-variables.ts";

/** The sessions of migrations. What is not instant ends with such a wait, too, and begins anew if it was in vain. */
export const BRIEF_LOCKS: SessionOptions = { lockWait: 1 };

/**
 * The longest open transactions, with their sessions: those of sessions on this database first, since the server may
 * hold many. `trx_started` is in the zone of the server's system.
 */
const OLDEST = `SELECT trx.trx_mysql_thread_id AS session, process.USER AS user, process.DB AS db,
    TIMESTAMPDIFF(SECOND, trx.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS seconds
  FROM information_schema.INNODB_TRX AS trx
  LEFT JOIN information_schema.PROCESSLIST AS process ON process.ID = trx.trx_mysql_thread_id
  WHERE trx.trx_mysql_thread_id <> CONNECTION_ID()
  ORDER BY process.DB <=> DATABASE() DESC, trx.trx_started LIMIT 3`;

/** For those who may not see the transactions of others. */
const HIDDEN =
  "open transactions are hidden from this account (PROCESS): `SELECT * FROM information_schema.INNODB_TRX ORDER BY trx_started` of an administrator lists them";

/**
 * Repeats some work until none of its statements waits in vain for a lock: after 1, 2, 4, and then each 8 s.
 *
 * @param report called with a line of text for each wait in vain, and one for each of the oldest open transactions
 */
export function untilUnlocked<T>(
  database: Knex,
  work: () => Promise<T>,
  report: (line: string) => void,
): Promise<T> {
  return pRetry(work, {
    retries: Number.POSITIVE_INFINITY,
    maxTimeout: 8_000,
    shouldRetry: ({ error }) => waitedInVain(error),
    async onFailedAttempt({ error }) {
      if (!waitedInVain(error)) return;
      report("waiting: other sessions use the table, and nobody waits for this one meanwhile");
      for (const line of await oldestTransactions(database)) report(line);
    },
  });
}

const waitedInVain = (error: Error) => "code" in error && error.code === "ER_LOCK_WAIT_TIMEOUT";

/** A line for each of the oldest open transactions. */
async function oldestTransactions(database: Knex): Promise<readonly string[]> {
  try {
    const [rows] = await database.raw(OLDEST);
    return rows.map(({ session, user, db, seconds }: Record<string, string | number | null>) => {
      const whose = `of ${user ?? "nobody who is connected"}${db === null ? "" : ` on ${db}`}`;
      return `  open for ${seconds} s: session ${session} ${whose}; KILL ${session} ends it`;
    });
  } catch {
    return [`  ${HIDDEN}`];
  }
}
