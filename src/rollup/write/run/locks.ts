/**
 * The metadata locks of sessions. The server takes one of each table that a statement names, whatever the
 * schema, the view, the trigger or the function that names it, and keeps it to the end of the transaction. So
 * they tell who writes the ledger.
 */
import type { Knex } from "knex";
import { TABLES } from "../../coverage.ts";

/** A lock that a session holds, or awaits. */
export interface Lock {
  /** Whether it is one of a table, and not of a schema or of all. */
  readonly isTable: boolean;
  /** Whether the session awaits it. */
  readonly isPending: boolean;
  /** What it lets the session write of the ledger: `table` is LOCK TABLES, or a change of the schema. */
  readonly writes: "rows" | "table" | undefined;
}

/** The locks by session, or why they are hidden. */
export type Locks =
  | { readonly locks: ReadonlyMap<number, readonly Lock[]>; readonly hidden: undefined }
  | { readonly locks: undefined; readonly hidden: string };

/**
 * The locks of sessions, and of this one: it reads a table of the rollups, so the list shows its lock of that,
 * in the schema as the server calls it, or the list is not complete. One of `charges` could have to wait.
 */
const locksOf = (
  sessions: readonly number[],
) => `SELECT thread.PROCESSLIST_ID AS session, thread.PROCESSLIST_ID = CONNECTION_ID() AS own,
    held.OBJECT_TYPE AS type, held.OBJECT_SCHEMA AS db, held.OBJECT_NAME AS name,
    held.LOCK_TYPE AS kind, held.LOCK_STATUS AS status
  FROM performance_schema.metadata_locks AS held
  JOIN performance_schema.threads AS thread ON thread.THREAD_ID = held.OWNER_THREAD_ID
  WHERE thread.PROCESSLIST_ID IN (CONNECTION_ID(), ${sessions.map(() => "?")}) AND held.OBJECT_TYPE <> 'USER LEVEL LOCK'
    AND (SELECT COUNT(*) FROM ${TABLES.rollups} WHERE provider_id IS NULL) = 0`;

/** A row of `locksOf`. */
interface Row {
  readonly session: string | number;
  readonly own: string | number;
  readonly type: string;
  readonly db: string | null;
  readonly name: string | null;
  readonly kind: string;
  readonly status: string;
}

/** How many locks the server could not list since its start, for want of memory. */
const LOST = "SHOW GLOBAL STATUS LIKE 'Performance_schema_metadata_lock_lost'";

/** The tables that writers write. */
const LEDGER = new Set<string | null>(["charges", "rentals"]);

/** What kinds of locks let a session write. Plain reads take others, and so do ALTER and dumps. */
const WRITES: Readonly<Record<string, Lock["writes"]>> = {
  SHARED_WRITE: "rows",
  SHARED_WRITE_LOW_PRIO: "rows",
  SHARED_NO_READ_WRITE: "table",
};

/**
 * Reads the locks of sessions, one at least. They are hidden if any may be missing in the list, or the server
 * refuses it, for whatever reason: then all count.
 */
export async function readLocks(database: Knex, sessions: readonly number[]): Promise<Locks> {
  const hidden = (reason: string): Locks => ({ locks: undefined, hidden: reason });
  let rows: Row[];
  try {
    rows = (await database.raw(locksOf(sessions), sessions))[0];
  } catch (error) {
    if (!(error instanceof Error && "sqlMessage" in error && "sqlState" in error)) throw error;
    return hidden(`${error.sqlMessage}`);
  }
  const own = rows.find((row) => Number(row.own) === 1 && row.name === TABLES.rollups);
  if (own === undefined) return hidden("performance_schema.metadata_locks lists no locks");
  const [[{ Value: lost }]] = await database.raw(LOST);
  if (Number(lost) > 0) return hidden(`Performance_schema_metadata_lock_lost is ${lost}`);
  const locks = Map.groupBy(rows, (row) => Number(row.session));
  const lockOf = ({ type, db, name, kind, status }: Row): Lock => ({
    isTable: type === "TABLE",
    isPending: status !== "GRANTED",
    writes: type === "TABLE" && db === own.db && LEDGER.has(name) ? WRITES[kind] : undefined,
  });
  return {
    locks: new Map([...locks].map(([session, held]) => [session, held.map(lockOf)])),
    hidden: undefined,
  };
}
