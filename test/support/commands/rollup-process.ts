/** `npm run rollup` as people run it: a process of its own, which can be killed. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the process where the one that runs the tests is gone. */
const TETHER = fileURLToPath(new URL("../service/tether.ts", import.meta.url));

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RollupProcess {
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ending>;
  /** The lines that it has written to stdout so far. */
  lines(): string[];
  signal(name: NodeJS.Signals): void;
}

/** Starts `node src/cli/rollup.ts` on a database. */
export function startRollup(url: string, ...args: string[]): RollupProcess {
  const child = spawn(process.execPath, ["--import", TETHER, "src/cli/rollup.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: url, NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const written = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => (written.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (written.stderr += text));
  const { promise, resolve, reject } = Promise.withResolvers<Ending>();
  child.once("error", reject);
  child.once("close", (code, signal) => resolve({ code, signal, ...written }));
  return {
    ended: promise,
    lines: () => written.stdout.split("\n").slice(0, -1),
    signal: (name) => {
      child.kill(name);
    },
  };
}

/** Runs it to its end. */
export function runRollup(url: string, ...args: string[]): Promise<Ending> {
  return startRollup(url, ...args).ended;
}
