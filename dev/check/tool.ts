/** Runs a tool and reports its result. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

/** The project's root folder. */
export const ROOT = join(import.meta.dirname, "../..");

/** The result of a check. */
export interface CheckResult {
  /** `NOT DONE`: the check cannot run here. It does not fail `npm run check`, but is printed. */
  readonly outcome: "passed" | "failed" | "NOT DONE";
  /** Printed after the check's name instead of its duration. */
  readonly note?: string;
  /** The tool's output, printed if the check did not pass. */
  readonly output: string;
}

/** How a program is run. */
export interface ToolOptions {
  /** The working directory; the project's root folder by default. */
  readonly cwd?: string;
  /** When it is ended, in ms: what asks a server would wait for a silent one. */
  readonly timeout?: number;
}

/** Runs a program, preferably from node_modules. It passes if it exits with code 0. Never rejects. */
export async function runTool(
  program: string,
  args: readonly string[],
  options?: ToolOptions,
): Promise<CheckResult> {
  const child = spawn(program, args, {
    cwd: ROOT,
    ...options,
    env: {
      ...process.env,
      PATH: join(ROOT, "node_modules/.bin") + delimiter + (process.env.PATH ?? ""),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ outcome: "failed", output: error.message }));
    child.once("close", (code) =>
      resolve({ outcome: code === 0 ? "passed" : "failed", output: output || `exit code ${code}` }),
    );
  });
}
