/** Runs a command of the service as people do, in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a command wrote, and with which code it ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command on a database; without one, on none. */
export function runCommand(name: string, args: readonly string[], url = ""): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const env = { ...process.env, DATABASE_URL: url, NO_COLOR: "1", FORCE_COLOR: undefined };
  const child = execFile(
    process.execPath,
    [commandFile(name), ...args],
    { cwd: ROOT, env },
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

/** The file that `npm run NAME` starts. */
function commandFile(name: string): string {
  return name === "seed" ? "dev/seed.ts" : `src/cli/${name}.ts`;
}

/** The outcome of a command that wrote one error and did nothing. */
export function failed(error: string): Outcome {
  return { code: 1, stdout: "", stderr: `error: ${error}\n` };
}

/** The last line of what a command wrote. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
