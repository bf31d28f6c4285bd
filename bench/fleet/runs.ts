/**
 * Rollup runs in a process of their own, while answers are measured. It lives as long as the
 * benchmark, as in production, so that its start and its compilation are not measured.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

const ROOT = join(import.meta.dirname, "../..");
const COMMAND = ["src/cli/rollup.ts", "--watch", "1"];

/** A running `npm run rollup -- --watch 1`. */
export interface Runs extends AsyncDisposable {
  readonly pid: number;
  /** The number of runs with news so far. */
  readonly count: () => number;
  /** Stops the process, or lets it go on. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * Starts the runs. Resolves when the first one begins.
 *
 * @throws Error if the command ends by itself
 */
export async function startRuns(url: string): Promise<Runs> {
  const child = spawn(
    process.execPath,
    ["--import", join(ROOT, "dev/parent-watch.ts"), ...COMMAND],
    {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: url },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    },
  );
  const ended = once(child, "exit");
  let count = 0;
  await new Promise<void>((resolve, reject) => {
    ended.then(([code]) => reject(new Error(`npm run rollup ended with ${code}`)), reject);
    createInterface(child.stdout as Readable).on("line", (line) => {
      if (line.includes("providers up to date")) count++;
      // The first line says what the command sees; it precedes the first run.
      resolve();
    });
  });
  return {
    pid: child.pid ?? Number.NaN,
    count: () => count,
    pause: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
