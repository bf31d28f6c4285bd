/** Runs a command on the database, from connecting to the exit code. */
import type { Knex } from "knex";
import { redactKeys } from "../auth/api-key.ts";
import { readDatabaseUrl } from "../config.ts";
import { createPool } from "../db/pool.ts";
import { formatError } from "./format-error.ts";

/**
 * Does the work on the database in DATABASE_URL and disconnects. Where that fails, says why
 * in a line on stderr and lets the process exit with 1.
 */
export async function runOnDatabase(work: (database: Knex) => Promise<void>): Promise<void> {
  try {
    const database = createPool(readDatabaseUrl(process.env));
    try {
      await work(database);
    } finally {
      await database.destroy();
    }
  } catch (thrown) {
    console.error(`error: ${redactKeys(formatError(thrown))}`);
    process.exitCode = 1;
  }
}
