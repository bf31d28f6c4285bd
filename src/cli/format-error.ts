/** What went wrong with a command, in words for the person who typed it. */

const UNREACHABLE =
  "the database in DATABASE_URL cannot be reached: is it running, and are host and port right?";
const REFUSED =
  "the database in DATABASE_URL refuses the account: are user, password and database name right?";
const NO_TABLES = "the database does not have the tables of this service: run `npm run migrate`";

/** By the `code` of Node's, mysql2's and the database's errors. */
const explanations = new Map([
  ["ECONNREFUSED", UNREACHABLE],
  ["ECONNRESET", UNREACHABLE],
  ["EHOSTUNREACH", UNREACHABLE],
  ["ENETUNREACH", UNREACHABLE],
  ["ENOTFOUND", UNREACHABLE],
  ["EAI_AGAIN", UNREACHABLE],
  ["ETIMEDOUT", UNREACHABLE],
  ["PROTOCOL_CONNECTION_LOST", UNREACHABLE],
  ["ER_ACCESS_DENIED_ERROR", REFUSED],
  ["ER_DBACCESS_DENIED_ERROR", REFUSED],
  ["ER_BAD_DB_ERROR", "the database named in DATABASE_URL does not exist: create it first"],
  ["ER_NO_SUCH_TABLE", NO_TABLES],
  ["ER_BAD_FIELD_ERROR", NO_TABLES],
]);

/**
 * What a command says of a value that was thrown: its own words for what often happens, the
 * database's for the rest. Never Knex's message, which holds the statement with its values.
 */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = "code" in thrown ? String(thrown.code) : thrown.name;
  if (thrown.name === "KnexTimeoutError") return UNREACHABLE;
  const explanation = explanations.get(code);
  if (explanation !== undefined) return `${explanation} (${code})`;
  return "sqlMessage" in thrown
    ? `the database says: ${thrown.sqlMessage} (${code})`
    : thrown.message;
}
