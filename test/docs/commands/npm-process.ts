/** npm as a process of its own that runs a script until it is told to stop. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Ending } from "../../support/service/service-process.ts";
import { terminalEnvironment } from "./terminal.ts";

/** Ends npm where the process that runs the tests is gone; its scripts then end by themselves. */
const TETHER = fileURLToPath(new URL("../../support/service/tether.ts", import.meta.url));

/** npm's own program, `…/npm/bin/npm-cli.js`, as the PATH has it. */
export function npmProgram(): string {
  const { stdout } = spawnSync("/bin/sh", ["-c", "command -v npm"], {
    env: terminalEnvironment(),
    encoding: "utf8",
  });
  return realpathSync(stdout.trim());
}

export interface NpmProcess {
  /** Its process id, and that of its group. */
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** All that was written to stdout so far. */
  stdout(): string;
  /** All that was written to stderr so far. */
  stderr(): string;
  /** Kills the whole group where it is still there. */
  kill(): void;
}

export interface NpmOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By default the programs of this test. */
  readonly node?: string;
  readonly npm?: string;
  /** By default this test's. */
  readonly uid?: number;
}

/** Starts npm in a process group of its own, as a terminal does. */
export function startNpm(
  args: readonly string[],
  { cwd, env, node = process.execPath, npm = npmProgram(), uid }: NpmOptions,
): NpmProcess {
  const tether = uid === undefined ? ["--import", TETHER] : [];
  const child: ChildProcess = spawn(node, [...tether, npm, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const written = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      written[stream] += text;
    });
  }
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${node} cannot be started`);
  return {
    pid,
    ended: once(child, "exit").then(([code, signal]): Ending => code ?? signal),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    kill() {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // nothing of it is left
      }
    },
  };
}
