/** Programs, among them the commands of the service, each in a process of its own. */
import { type ExecFileOptions, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { waitFor } from "../poll.ts";
import { SEAT_BELT } from "../seat-belt.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the process if the test process exits first. */
const PARENT_WATCH = fileURLToPath(new URL("../../../dev/parent-watch.ts", import.meta.url));

/** The exit code (-1 after a signal) and the output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program of the service that runs, and what it has written so far. */
export function spawnProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  folder = ROOT,
  stdout: number | "pipe" = "pipe",
) {
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, ...args], {
    cwd: folder,
    env: {
      ...process.env,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      NODE_OPTIONS: SEAT_BELT,
      ...environment,
    },
    stdio: ["ignore", stdout, "pipe", "ipc"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(
    ([code, signal]): number | NodeJS.Signals => code ?? signal,
  );
  return { child, output, ended };
}

/** A command that runs. */
export type RunningCommand = ReturnType<typeof startCommand>;

/**
 * Starts the command of `npm run NAME`.
 *
 * @param url its `DATABASE_URL`; unset by default
 * @param folder that of its code; this repository by default
 */
export function startCommand(name: string, args: readonly string[], url = "", folder = ROOT) {
  const file = name === "seed" ? "dev/seed.ts" : `src/cli/${name}.ts`;
  const { child, output, ended } = spawnProgram([file, ...args], { DATABASE_URL: url }, folder);
  return {
    /** Resolves when the process has ended. */
    ended: ended.then((ending): CommandResult => {
      return { code: typeof ending === "number" ? ending : -1, ...output };
    }),
    /** The complete lines on stdout so far. */
    lines: () => output.stdout.split("\n").slice(0, -1),
    signal: (name: NodeJS.Signals) => void child.kill(name),
  };
}

/** Runs a program to its end, in the folder of the repository. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, "cwd" | "env"> = {},
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const child = execFile(
    program,
    args,
    { cwd: ROOT, encoding: "utf8", ...options },
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  try {
    return await waitFor(promise, `the end of ${[program, ...args].join(" ")}`);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Runs the command of `npm run NAME` to its end. */
export async function runCommand(
  ...command: Parameters<typeof startCommand>
): Promise<CommandResult> {
  const { ended, lines, signal } = startCommand(...command);
  try {
    const [name, args] = command;
    return await waitFor(ended, `the end of npm run ${name} -- ${args.join(" ")}`, () =>
      lines().join("\n"),
    );
  } finally {
    signal("SIGKILL");
  }
}

/** The expected result of a command that printed one error and did nothing else. */
export function failed(error: string): CommandResult {
  return { code: 1, stdout: "", stderr: `error: ${error}\n` };
}

/** The lines of a command that logs JSON. */
export function parseLog(stdout: string): Readonly<Record<string, unknown>>[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The last line of a command's output. */
export function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
