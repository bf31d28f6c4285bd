/** What the demo does to its database, each step through the command that people use. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = join(import.meta.dirname, "../..");

/** Brings the schema up to date. */
export async function migrate(url: string): Promise<void> {
  await run(url, "src/cli/migrate.ts");
}

/**
 * Loads the demo data. Where a `say` is given, a database that already holds
 * data is used as it is, with a word about it; else that is an error.
 */
export async function seed(url: string, say?: (line: string) => void): Promise<void> {
  try {
    await run(url, "dev/seed.ts");
  } catch (error) {
    if (say === undefined || !(error instanceof Error)) throw error;
    say(`${error.message}\nusing the database as it is`);
  }
}

/** Brings the rollups up to date with what was loaded a moment ago. */
export async function rollUp(url: string): Promise<void> {
  await run(url, "src/cli/rollup.ts", "--margin", "0");
}

/** Makes an API key for a provider, the first one by default. */
export async function createKey(url: string, provider = "1"): Promise<string> {
  const words = await run(
    url,
    "src/cli/key.ts",
    "create",
    "--provider",
    provider,
    "--name",
    "demo",
  );
  return words.trimEnd().split("\n").at(-1) ?? "";
}

/** Runs a command on the database; what it wrote to stdout. Throws with what it wrote to stderr. */
async function run(url: string, command: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, command), ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0) return output;
  throw new Error(errors.trimEnd() || `${command} ended with code ${code}`);
}
