/** `npm run rollup` in a process of its own, which a test can signal. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the process if the test process exits first. */
const PARENT_WATCH = fileURLToPath(new URL("../../../dev/parent-watch.ts", import.meta.url));

/** How the process ended, and its output. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running rollup command. */
export interface RollupProcess {
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ending>;
  /** The complete lines on stdout so far. */
  lines(): string[];
  signal(name: NodeJS.Signals): void;
}

/** Starts `node src/cli/rollup.ts` on the database with a URL. */
export function startRollup(url: string, ...args: string[]): RollupProcess {
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, "src/cli/rollup.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: url, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (output.stderr += text));
  const { promise, resolve, reject } = Promise.withResolvers<Ending>();
  child.once("error", reject);
  child.once("close", (code, signal) => resolve({ code, signal, ...output }));
  return {
    ended: promise,
    lines: () => output.stdout.split("\n").slice(0, -1),
    signal: (name) => {
      child.kill(name);
    },
  };
}

/** Runs the command to its end. */
export function runRollup(url: string, ...args: string[]): Promise<Ending> {
  return startRollup(url, ...args).ended;
}
