/** npm as a process that runs a script until it is stopped. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Ending } from "../../support/service/service-process.ts";
import { terminalEnvironment } from "./terminal.ts";

/** Ends npm if the test process exits first. Its scripts then end by themselves. */
const PARENT_WATCH = fileURLToPath(new URL("../../../dev/parent-watch.ts", import.meta.url));

/** The path of npm's program, `…/npm/bin/npm-cli.js`, found through PATH. */
export function npmProgram(): string {
  const { stdout } = spawnSync("/bin/sh", ["-c", "command -v npm"], {
    env: terminalEnvironment(),
    encoding: "utf8",
  });
  return realpathSync(stdout.trim());
}

export interface NpmProcess {
  /** Its process id, which is also that of its group. */
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** Everything written to stdout so far. */
  stdout(): string;
  /** Everything written to stderr so far. */
  stderr(): string;
  /** Kills the whole group if it still exists. */
  kill(): void;
}

export interface NpmOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By default the programs that run this test. */
  readonly node?: string;
  readonly npm?: string;
  /** By default the user that runs this test. */
  readonly uid?: number;
}

/** Starts npm in a process group of its own, as a terminal does. */
export function startNpm(
  args: readonly string[],
  { cwd, env, node = process.execPath, npm = npmProgram(), uid }: NpmOptions,
): NpmProcess {
  const parentWatch = uid === undefined ? ["--import", PARENT_WATCH] : [];
  const child: ChildProcess = spawn(node, [...parentWatch, npm, ...args], {
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
        // the group has ended
      }
    },
  };
}
