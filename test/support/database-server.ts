/**
 * The database server of a test run: the one of DATABASE_URL where that is set,
 * else a private one that lives as long as the run.
 */
import type { TestProject } from "vitest/node";
import { startPrivateDatabase } from "../../dev/private-database/private-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of an account that may make databases and accounts. */
    databaseServer: string;
  }
}

/** Starts the server before the first test; resolves to what stops it after the last. */
export default async function (project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  if (given) {
    project.provide("databaseServer", given);
    return async () => {};
  }
  // A zone of its own, so that whatever relies on the server's zone shows.
  const server = await startPrivateDatabase({ say: console.error, timeZone: "-05:00" });
  project.provide("databaseServer", server.url);
  return () => server.stop();
}
