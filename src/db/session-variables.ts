/**
 * The session variables of every connection. What can change which rows a statement finds, what they
 * hold, how they compare, or whether a write lasts, is stated, whatever the server, `init_connect` or
 * the account has as defaults. A proxy may not pass it on, so it is also read back.
 *
 * Not stated, because no statement of this program depends on them: the digits of a division, the
 * length of GROUP_CONCAT, the names of months, the sorting of long texts, the checks of keys.
 */
import type { Knex } from "knex";

/** What the sessions of a pool are for. */
export interface SessionOptions {
  /** Makes the session read-only on the server. Default: false. */
  readonly readOnly?: boolean;
  /** The time after which the server ends a statement, in ms. Default: no limit. */
  readonly maxStatement?: number;
  /** How long a statement waits for a lock of a table, in seconds. Default: that of the server, which is long. */
  readonly lockWait?: number;
}

/**
 * Dates that do not exist, like the date zero, are compared and sorted as a lax writer stored them. Of microseconds the
 * milliseconds are taken, as MariaDB does without being told: rounded up, an instant may become one of the next year.
 */
const SQL_MODE = [
  "STRICT_TRANS_TABLES",
  "ALLOW_INVALID_DATES",
  "ONLY_FULL_GROUP_BY",
  "ERROR_FOR_DIVISION_BY_ZERO",
  "NO_ENGINE_SUBSTITUTION",
].join(",");
/** MariaDB does not know it. */
const TRUNCATE = ",TIME_TRUNCATE_FRACTIONAL";

/** A variable, and the text that it reads as. */
interface Variable {
  readonly name: string;
  readonly value: string;
  /** SQL that sets it. Default: `name = value`; "" if `TRANSACTION` sets it. */
  readonly set?: string;
  /** SQL that reads it. Default: `@@name`. */
  readonly read?: string;
  /** The mark of the comments that only its engine executes. Default: all know the variable. */
  readonly engine?: Engine;
  /** Whether it only protects: no answer is wrong and no write is lost without it. */
  readonly protects?: true;
}

/** The value of `sql_select_limit` that is as good as none. */
const NO_LIMIT = "9223372036854775807";

/** MySQL's comments are executed by Vitess and TiDB, too. */
const [MARIADB, MYSQL] = ["M!", "!80000"] as const;
type Engine = typeof MARIADB | typeof MYSQL | undefined;

/** What is stated. */
function variables(options: SessionOptions): readonly Variable[] {
  const { readOnly = false, maxStatement = 0, lockWait } = options;
  const access = readOnly ? "1" : "0";
  const isolation = "REPEATABLE-READ";
  const seconds = String(maxStatement / 1_000);
  return [
    // Otherwise a connection may answer from its first snapshot for ever, and lose what it writes.
    { name: "autocommit", value: "1" },
    { name: "completion_type", value: "NO_CHAIN" },
    { name: "character_set_client", value: "utf8mb4" },
    { name: "character_set_results", value: "utf8mb4" },
    {
      name: "character_set_connection",
      value: "utf8mb4",
      set: "collation_connection = utf8mb4_bin",
    },
    { name: "time_zone", value: "+00:00" },
    {
      name: "sql_mode",
      value: SQL_MODE + TRUNCATE,
      set: `sql_mode = CONCAT('${SQL_MODE}'/*${MYSQL} , '${TRUNCATE}' */)`,
      read: `CONCAT(@@sql_mode/*${MARIADB} , '${TRUNCATE}' */)`,
    },
    // On Vitess it is 0 if there is none, and any other is added to each SELECT.
    {
      name: "sql_select_limit",
      value: NO_LIMIT,
      set: `sql_select_limit = IF(@@sql_select_limit = 0, 0, ${NO_LIMIT})`,
      read: `COALESCE(NULLIF(@@sql_select_limit, 0), ${NO_LIMIT})`,
    },
    { name: "tx_isolation", value: isolation, engine: MARIADB, set: "" },
    { name: "transaction_isolation", value: isolation, engine: MYSQL, set: "" },
    { name: "tx_read_only", value: access, engine: MARIADB, set: "", protects: true },
    { name: "transaction_read_only", value: access, engine: MYSQL, set: "", protects: true },
    { name: "max_statement_time", value: seconds, engine: MARIADB, protects: true },
    { name: "max_execution_time", value: String(maxStatement), engine: MYSQL, protects: true },
    // Both refuse statements of people who forget a WHERE.
    { name: "sql_safe_updates", value: "0", protects: true },
    { name: "sql_big_selects", value: "1", protects: true },
    ...(lockWait === undefined ? [] : [{ ...LOCK_WAIT, value: String(lockWait) }]),
  ];
}

const LOCK_WAIT = { name: "lock_wait_timeout", protects: true } as const;

/** The items of a list, each as a comment if only one engine executes it. */
function listOf(items: readonly { readonly engine: Engine; readonly sql: string }[]): string {
  return items
    .map(({ engine, sql }, nth) => {
      const item = nth === 0 ? sql : `, ${sql}`;
      return engine === undefined ? item : `/*${engine} ${item} */`;
    })
    .join(" ");
}

/**
 * The statements that set up a session, in order. TiDB refuses READ ONLY, which it ignores, unless told
 * otherwise before. The isolation level is set here because `transaction({ isolationLevel, readOnly })`
 * of Knex is a syntax error on MySQL.
 */
export function settingStatements(options: SessionOptions): readonly string[] {
  const assignments = variables(options)
    .map(({ name, value, engine, set = `${name} = ${literal(value)}` }) => ({ engine, sql: set }))
    .filter(({ sql }) => sql !== "");
  return [
    `SET SESSION ${listOf(assignments)} /*T! , tidb_enable_noop_functions = 1 */`,
    `SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ${options.readOnly ? "ONLY" : "WRITE"}`,
  ];
}

const literal = (value: string) => (/^[\d.]+$/.test(value) ? value : `'${value}'`);

/**
 * Reads the session back, as the server has it.
 *
 * @param options what was set
 * @param connections the most connections that this program opens
 * @param warn called with what only protects, and is not in effect
 * @throws Error that names each variable without which an answer could be wrong, or a write be lost
 */
export async function checkSession(
  database: Knex,
  options: SessionOptions,
  connections: number,
  warn: (message: string) => void,
): Promise<void> {
  const stated = variables(options);
  const columns = stated.map(({ name, engine, read = `@@${name}` }) => ({
    engine,
    sql: `CAST(${read} AS CHAR) AS ${name}`,
  }));
  // A clock that was stopped (SET timestamp) has the same time twice. SYSDATE would tell, but also of a statement that
  // waited for its node to catch up (Galera).
  const { row, stopped } = await database.transaction(async (session) => {
    // Without a row, sql_select_limit is 0.
    const [[row]] = await session.raw(
      `SELECT ${listOf(columns)}, UTC_TIMESTAMP(6) AS at, @@max_connections AS \`all\`, @@max_user_connections AS own`,
    );
    const [[after]] = await session.raw("SELECT UTC_TIMESTAMP(6) AS at");
    return { row, stopped: row !== undefined && row.at === after?.at };
  });
  const read: Readonly<Record<string, unknown>> = row ?? { sql_select_limit: "0" };
  const differing = stated.filter(
    ({ name, value }) => name in read && !isSame(value, String(read[name])),
  );
  const differenceOf = ({ name, value }: Variable) => `${name} is ${read[name]}, not ${value}`;
  for (const variable of differing.filter(({ protects }) => protects)) {
    warn(`the database session lacks a protection: ${differenceOf(variable)}`);
  }
  const allowed = Math.min(...[read.all, read.own].map((limit) => Number(limit) || Infinity));
  if (allowed < connections) {
    warn(`the database allows ${allowed} connections, and this program opens up to ${connections}`);
  }
  const wrong = differing.filter(({ protects }) => !protects).map(differenceOf);
  if (wrong.length === 0) {
    if (stopped) wrong.push("timestamp is set: its clock stands still");
    // Galera: a node that has lost its cluster goes on answering from what it has.
    const [[dirty]] = await database.raw("SHOW SESSION VARIABLES LIKE 'wsrep_dirty_reads'");
    if (dirty?.Value === "ON") wrong.push("wsrep_dirty_reads is ON, not OFF");
  }
  if (wrong.length === 0) return;
  throw new Error(
    `the database session is not as it was set up (${wrong.join("; ")}): a proxy or the server ` +
      "does not apply what this program sets, and figures could be wrong",
  );
}

/** Whether two texts stand for the same value: a number, a switch, or a list in any order. */
function isSame(stated: string, read: string): boolean {
  if (read === "ON" || read === "OFF") return Number(stated) === Number(read === "ON");
  if (Number(stated) === Number(read)) return true;
  return new Set(stated.split(",")).symmetricDifference(new Set(read.split(","))).size === 0;
}
