/** Runs the project's scripts as child processes. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = join(import.meta.dirname, "../..");
const PARENT_WATCH = join(ROOT, "dev/parent-watch.ts");

/** How long a script may take to end after SIGTERM, in ms. */
const STOP_TIMEOUT = 15_000;

/** A script that runs until it is stopped. */
export interface RunningScript {
  readonly child: ChildProcess;
  /** Resolves to how the process ended (`with code 1`, `by SIGKILL`). Never rejects. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after 15 seconds. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a script that ends when this process does. It has its own process group, so that the
 * terminal's Ctrl-C does not reach it: `stop` ends it.
 *
 * @param args options of Node, the script, from the project's root, and its arguments
 */
export function startScript(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stdout: "ignore" | "pipe",
): RunningScript {
  const options: SpawnOptions = {
    cwd: ROOT,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ["ignore", stdout, "inherit", "ipc"],
  };
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, ...args], options);
  const ended = once(child, "exit").then(
    ([code, signal]) => (signal ? `by ${signal}` : `with code ${code}`),
    (error: Error) => error.message,
  );
  return {
    child,
    ended,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Runs a script on a database to its end and returns its output. Throws an Error with its
 * stderr if it exits with a code other than 0.
 */
export async function runScript(
  databaseUrl: string,
  script: string,
  ...args: string[]
): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (code === 0) return output;
  throw new Error(errors.trimEnd() || `${script} ended with code ${code}`);
}
