/** The rollups as a process of their own that keeps them up to date, as one runs them for real. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** How long it waits between two runs, in seconds. */
const PAUSE = "30";

const COMMAND = join(import.meta.dirname, "../../src/cli/rollup.ts");

export interface RunningRollup {
  /** Tells it to end, and resolves when it has. */
  stop(): Promise<void>;
}

/** Starts `npm run rollup -- --watch` on a database. What it cannot do it says on stderr. */
export function startRollup(databaseUrl: string): RunningRollup {
  const tether = join(import.meta.dirname, "tether.ts");
  const rollup = spawn(process.execPath, ["--import", tether, COMMAND, "--watch", PAUSE], {
    // Out of reach of the terminal's Ctrl-C, which this process passes on as SIGTERM.
    detached: true,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(rollup, "exit").catch(() => {});
  return {
    async stop() {
      rollup.kill("SIGTERM");
      await ended;
    },
  };
}
