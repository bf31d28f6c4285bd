/**
 * The database server of a test run: the one in DATABASE_URL if it is set, otherwise a private one
 * that lives as long as the run. On it, a migrated template, of which each test gets a copy.
 */
import { randomBytes } from "node:crypto";
import type { TestProject } from "vitest/node";
import { startPrivateDatabase } from "../../dev/private-database/private-database.ts";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { testPool } from "./database.ts";

/** A database with the schema and without data. */
export interface Template {
  readonly database: string;
  readonly tables: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of an account that may create databases and accounts. */
    databaseServer: string;
    template: Template;
  }
}

/** Starts the server before the first test. Resolves to the function that stops it after the last. */
export default async function (project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  // The server's zone is not UTC, so that code that depends on it fails.
  const server = given
    ? { url: given, stop: async () => {} }
    : await startPrivateDatabase({
        log: console.error,
        timeZone: "-05:00",
      });
  const template = await createTemplate(server.url);
  project.provide("databaseServer", server.url);
  project.provide("template", template);
  return async () => {
    if (given) await onServer(given, `DROP DATABASE ${template.database}`);
    await server.stop();
  };
}

async function createTemplate(server: string): Promise<Template> {
  const database = `revenue_template_${randomBytes(6).toString("hex")}`;
  await onServer(server, `CREATE DATABASE ${database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  const url = new URL(server);
  url.pathname = `/${database}`;
  const knex = testPool(url.href);
  try {
    await migrateToLatest(knex);
    const [rows] = await knex.raw("SHOW TABLES");
    return { database, tables: rows.map((row: Record<string, string>) => Object.values(row)[0]) };
  } finally {
    await knex.destroy();
  }
}

async function onServer(server: string, statement: string): Promise<void> {
  const knex = testPool(server);
  try {
    await knex.raw(statement);
  } finally {
    await knex.destroy();
  }
}
