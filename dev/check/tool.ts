/** Running one of the project's tools, and what comes of it. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

/** The project's folder. */
export const ROOT = join(import.meta.dirname, "../..");

export interface Verdict {
  /** `NOT DONE`: it could not be checked here; not a failure, but never silent. */
  readonly outcome: "passed" | "failed" | "NOT DONE";
  /** What stands behind the check's name, instead of its duration. */
  readonly note?: string;
  /** What to show where it did not pass. */
  readonly words: string;
}

/** Runs a program, the project's own before the machine's: passed where it exits with 0. */
export async function runTool(program: string, args: readonly string[]): Promise<Verdict> {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: join(ROOT, "node_modules/.bin") + delimiter + (process.env.PATH ?? ""),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      words += text;
    });
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ outcome: "failed", words: error.message }));
    child.once("close", (code) =>
      resolve({ outcome: code === 0 ? "passed" : "failed", words: words || `exit code ${code}` }),
    );
  });
}
