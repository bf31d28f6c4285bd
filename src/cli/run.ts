/** Runs a command on the database in `DATABASE_URL`. */
import type { Knex } from "knex";
import { redactKeys } from "../auth/api-key.ts";
import { type DatabaseUrl, readDatabaseUrl } from "../config.ts";
import { createPool } from "../db/pool.ts";
import { formatError } from "./format-error.ts";

/**
 * Connects, runs the work and disconnects. If that fails, prints one line to stderr and sets the
 * exit code to 1. `host` is the address of the command's admin port.
 */
export async function runOnDatabase(
  work: (database: Knex, url: DatabaseUrl, host: string) => Promise<void>,
): Promise<void> {
  try {
    const url = readDatabaseUrl(process.env);
    const database = createPool(url);
    try {
      await work(database, url, process.env.ADMIN_HOST || process.env.HOST || "127.0.0.1");
    } finally {
      await database.destroy();
    }
  } catch (thrown) {
    console.error(`error: ${redactKeys(formatError(thrown))}`);
    process.exitCode = 1;
  }
}

/** Removes a variable from the environment if it is empty, which counts as unset. */
export function unsetIfEmpty(variable: string): void {
  if (process.env[variable] === "") delete process.env[variable];
}
