/**
 * A temporary folder and the processes that run in it. All of them are removed when this process
 * exits for any reason (see `supervisor.ts`).
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessReport, StartRequest } from "./supervisor.ts";

/** A process in the folder. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves to how the process ended (`with code 1`, `by SIGKILL`). Never rejects. */
  readonly ended: Promise<string>;
  /** Sends a signal to the process and its children. Does nothing if the process has ended. */
  signal(name: NodeJS.Signals): void;
}

/** The folder and its operations. */
export interface SupervisedFolder {
  readonly path: string;
  /** The last lines of the processes' output, for error messages. */
  logTail(lines?: number): string;
  /** Starts a command in the folder. Rejects with an Error if it cannot be started. */
  run(command: readonly string[]): Promise<SupervisedProcess>;
  /** Kills the processes and removes the folder. Resolves when both are done. */
  remove(): Promise<void>;
}

/** Creates an empty folder, readable by this user only, and its supervisor. */
export function createSupervisedFolder(prefix: string): SupervisedFolder {
  const path = mkdtempSync(join(parentFolder(prefix), prefix));
  const logFile = join(path, "log");
  const log = openSync(logFile, "a");
  const supervisor = fork(join(import.meta.dirname, "supervisor.ts"), [path], {
    detached: true,
    execArgv: [],
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);

  const pids = new Set<number>();
  const ended = once(supervisor, "exit").then(([code]) => {
    if (code !== 0) cleanUp(path, pids);
  });
  let processes = 0;

  return {
    path,
    logTail: (lines = 15) => lastLines(logFile, lines),
    run: (command) => runUnder(supervisor, ended, pids, { id: ++processes, command }),
    async remove() {
      if (supervisor.connected) supervisor.disconnect();
      await ended;
    },
  };
}

/**
 * The system's folder for temporary files, or `/tmp` if a server cannot run there: the path of a
 * Unix socket has at most 107 bytes, and `mariadb-install-db` does not quote paths.
 */
function parentFolder(prefix: string): string {
  const parent = tmpdir();
  const longest = join(parent, `${prefix}XXXXXX`, "socket");
  return /^[\w./-]{1,100}$/.test(longest) ? parent : "/tmp";
}

async function runUnder(
  supervisor: ChildProcess,
  supervisorEnded: Promise<unknown>,
  pids: Set<number>,
  request: StartRequest,
): Promise<SupervisedProcess> {
  const started = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  let alive = true;
  let pid = 0;

  const onReport = (report: ProcessReport) => {
    if (report.id !== request.id) return;
    if (report.event === "started") {
      pid = report.pid;
      pids.add(pid);
      started.resolve(pid);
    } else if (report.event === "failed") {
      started.reject(new Error(`${request.command[0]} cannot be started: ${report.reason}`));
      end(report.reason);
    } else {
      end(report.exit);
    }
  };
  const end = (exit: string) => {
    alive = false;
    pids.delete(pid);
    supervisor.off("message", onReport);
    started.reject(new Error(`${request.command[0]} was not started: the supervisor has ended`));
    ended.resolve(exit);
  };
  supervisor.on("message", onReport);
  supervisorEnded.then(() => end("with its supervisor"));
  if (supervisor.connected) supervisor.send(request, (error) => error && end(error.message));
  else end("with its supervisor");

  return {
    pid: await started.promise,
    ended: ended.promise,
    signal(name) {
      if (alive) signalGroup(pid, name);
    },
  };
}

/** Kills the processes and removes the folder after the supervisor itself was killed. */
function cleanUp(path: string, pids: Iterable<number>): void {
  for (const pid of pids) signalGroup(pid, "SIGKILL");
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // The process has ended, but the supervisor's report is still pending.
  }
}

function lastLines(file: string, lines: number): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}
