/** Runs commands, which use the database in `DATABASE_URL`. */
import type { Knex } from "knex";
import { redactKeys } from "../auth/api-key.ts";
import { misspelled } from "../config/misspellings.ts";
import { type Config, type DatabaseUrl, readDatabaseUrl, VARIABLES } from "../config.ts";
import { createPool } from "../db/pool.ts";
import { checkSession, type SessionOptions } from "../db/session-variables.ts";
import { followDatabaseUrl } from "../db/url-watch.ts";
import type { Log } from "../telemetry/log.ts";
import { ignoreClosedOutput } from "./closed-output.ts";
import { formatError } from "./format-error.ts";

/** How long a command waits for a connection, in ms. No call waits for it, so a machine may be slow. */
const CONNECT_TIMEOUT = 30_000;

/**
 * Runs the work of a command. If it fails, prints one line to stderr and sets the exit code to 1. `host`
 * is the address of the command's admin port.
 */
export async function runCommand(
  work: (url: DatabaseUrl, host: string) => Promise<void>,
): Promise<void> {
  ignoreClosedOutput();
  try {
    const url = readDatabaseUrl(process.env);
    await work(url, process.env.ADMIN_HOST || process.env.HOST || "127.0.0.1");
  } catch (thrown) {
    console.error(`error: ${redactKeys(formatError(thrown))}`);
    process.exitCode = 1;
  }
}

/**
 * Runs a command that connects, works and disconnects.
 *
 * @param session what its sessions are set up with
 */
export function runOnDatabase(
  work: (database: Knex) => Promise<void>,
  session: SessionOptions = {},
): Promise<void> {
  return runCommand(async (url) => {
    const database = createPool(url, { connectTimeout: CONNECT_TIMEOUT, ...session });
    try {
      await checkSession(database, session, 1, (message) => console.error(`warning: ${message}`));
      await work(database);
    } finally {
      await database.destroy();
    }
  });
}

/** The URL for new connections of a command that takes long, which `DATABASE_URL_FILE` may change. */
export function followUrl(url: DatabaseUrl, log: Log): () => DatabaseUrl {
  return followDatabaseUrl(process.env, url, log);
}

/** The level of a command's log. Throws `ConfigError` for a malformed `LOG_LEVEL`. */
export function readLogLevel(): Config["logLevel"] {
  const { name, parse, fallback } = VARIABLES.logLevel;
  return parse(process.env[name] || fallback, name);
}

/** The variables that are set and are almost settings, of the service or with the names of flags. */
export function misspelledSettings(flags: readonly { readonly name: string }[]): string[] {
  return misspelled(
    process.env,
    flags.map(({ name }) => name),
  );
}

/** Removes a variable from the environment if it is empty, which counts as unset. */
export function unsetIfEmpty(variable: string): void {
  if (process.env[variable] === "") delete process.env[variable];
}
