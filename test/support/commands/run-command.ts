/** Runs a command-line program of the service in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The exit code and the output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command of `npm run NAME` to its end.
 *
 * @param url its `DATABASE_URL`; unset by default
 */
export function runCommand(
  name: string,
  args: readonly string[],
  url = "",
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
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

/** The expected result of a command that printed one error and did nothing else. */
export function failed(error: string): CommandResult {
  return { code: 1, stdout: "", stderr: `error: ${error}\n` };
}

/** The last line of a command's output. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
