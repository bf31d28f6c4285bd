/** Prepares the demo's database with the same scripts as `npm run`. */
import { runScript } from "./script.ts";

/** Migrates the schema. */
export async function migrate(url: string): Promise<void> {
  await runScript(url, "src/cli/migrate.ts");
}

/**
 * Loads the demo data.
 *
 * @param log if given, a database that already has data is logged and left as it is; otherwise
 * it is an error
 */
export async function seed(url: string, log?: (line: string) => void): Promise<void> {
  try {
    await runScript(url, "dev/seed.ts");
  } catch (error) {
    if (log === undefined || !(error instanceof Error)) throw error;
    log(`${error.message}\nusing the database as it is`);
  }
}

/** Rolls up all charges but those of the last second. */
export async function rollUp(url: string): Promise<void> {
  await runScript(url, "src/cli/rollup.ts", "--margin", "0");
}

/** Issues an API key for provider 1 and returns it. */
export async function createKey(url: string): Promise<string> {
  const output = await runScript(
    url,
    "src/cli/key.ts",
    "create",
    "--provider",
    "1",
    "--name",
    "demo",
  );
  return output.trimEnd().split("\n").at(-1) ?? "";
}
