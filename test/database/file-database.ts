/** A database for the calling test file. */
import type { Knex } from "knex";
import { afterAll, beforeEach } from "vitest";
import { TABLES } from "../../src/rollup/coverage.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

/** The tables of rollups, and with those of the rows that they add up. */
export const ROLLUPS: readonly string[] = Object.values(TABLES);
export const LEDGER: readonly string[] = ["charges", "rentals", ...ROLLUPS];

/**
 * Creates a database that is dropped after the tests of the file at whose top this is awaited.
 *
 * @param emptied the tables whose rows are deleted before each test
 */
export async function databaseOfFile(emptied: readonly string[] = []): Promise<TestDatabase> {
  const database = await createDatabase();
  beforeEach(() => deleteRows(database.knex, emptied));
  afterAll(() => database.drop());
  return database;
}

/** Deletes all rows of some tables. */
export async function deleteRows(knex: Knex, tables: readonly string[]): Promise<void> {
  for (const table of tables) await knex(table).del();
}
