/** Programs, among them the commands of the service, each in a process of its own. */
import { type ExecFileOptions, execFile, spawn } from "node:child_process";
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

/** A command that runs. */
export interface RunningCommand {
  /** Resolves when the process has ended. */
  readonly ended: Promise<CommandResult>;
  /** The complete lines on stdout so far. */
  lines(): string[];
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts the command of `npm run NAME`.
 *
 * @param url its `DATABASE_URL`; unset by default
 * @param folder that of its code; this repository by default
 */
export function startCommand(
  name: string,
  args: readonly string[],
  url = "",
  folder = ROOT,
): RunningCommand {
  const file = name === "seed" ? "dev/seed.ts" : `src/cli/${name}.ts`;
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, file, ...args], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: url,
      NODE_OPTIONS: SEAT_BELT,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (output.stderr += text));
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  child.once("error", reject);
  child.once("close", (code) => resolve({ code: code ?? -1, ...output }));
  return {
    ended: promise,
    lines: () => output.stdout.split("\n").slice(0, -1),
    signal: (name) => {
      child.kill(name);
    },
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
