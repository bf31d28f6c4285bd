/** Formats errors for the operator who ran a command or started the service. */
import { ConfigError } from "../config.ts";
import { failureOf, isTooLong, TOO_LONG } from "../db/driver-error.ts";
import { SHARDED } from "../db/shards.ts";

const UNREACHABLE =
  "cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct";
const REJECTED =
  "the database in DATABASE_URL rejected the account: check the user, the password, percent-encoded, and the database name";
const NO_TABLES = "the database lacks the tables of this service: run `npm run migrate`";

/** The driver's message for a plugin of the server that it lacks; `client_ed25519`, for example. */
const UNKNOWN_PLUGIN = /authentication using unknown plugin (\w+)/;

/** By the `code` of errors of mysql2 and the database. */
const explanations = new Map([
  ["ER_ACCESS_DENIED_ERROR", REJECTED],
  ["ER_DBACCESS_DENIED_ERROR", REJECTED],
  // A table without a place for its rows on one of the shards: none of ours lacks a primary key.
  ["ER_REQUIRES_PRIMARY_KEY", SHARDED],
  ["ER_NO_SUCH_TABLE", NO_TABLES],
  ["ER_BAD_FIELD_ERROR", NO_TABLES],
]);

/** Explains a thrown value, in a line for each mistake of the configuration. */
export function reasonsOf(thrown: unknown): readonly string[] {
  return thrown instanceof ConfigError ? thrown.mistakes : [formatError(thrown)];
}

/**
 * Explains a thrown value in one line: an explanation for common codes, the database's message
 * for its other errors. Never Knex's message, which holds the statement with its values.
 */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === "KnexTimeoutError") return UNREACHABLE;
  if (isTooLong(thrown)) return TOO_LONG;
  const code = "code" in thrown ? String(thrown.code) : thrown.name;
  const explanation = explanations.get(code);
  if (explanation !== undefined) return `${explanation} (${code})`;
  if (code.startsWith("HANDSHAKE_")) {
    return `TLS with the database in DATABASE_URL failed: ${thrown.message} (${code})`;
  }
  if ("sqlMessage" in thrown) return `database error: ${thrown.sqlMessage} (${code})`;
  const plugin = UNKNOWN_PLUGIN.exec(thrown.message)?.[1];
  if (plugin !== undefined) {
    return `the account in DATABASE_URL authenticates with ${plugin}, which is not supported: use caching_sha2_password on MySQL, and on MariaDB mysql_native_password (ALTER USER … IDENTIFIED VIA mysql_native_password USING PASSWORD('…'))`;
  }
  const failure = failureOf(thrown);
  return failure === "refused" || failure === "lost" ? `${UNREACHABLE} (${code})` : thrown.message;
}
