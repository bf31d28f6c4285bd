/**
 * A temporary folder and the processes that run in it, all of which are gone
 * when this process is, however it ends (see `watchdog.ts`).
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessReport, StartRequest } from "./watchdog.ts";

/** A process that the watchdog runs. */
export interface WatchedProcess {
  readonly pid: number;
  /** How it ended (`with code 1`, `by SIGKILL`), once it has. Never rejects. */
  readonly ended: Promise<string>;
  /** Sends a signal to it and to its children. A process that has ended is left alone. */
  signal(name: NodeJS.Signals): void;
}

export interface WatchedFolder {
  readonly path: string;
  /** What the folder's processes wrote: the last lines, for an error's text. */
  lastWords(lines?: number): string;
  /** Starts a command in the folder. Rejects where it cannot be started. */
  run(command: readonly string[]): Promise<WatchedProcess>;
  /** Kills what runs in the folder and removes it; resolves when both are done. */
  remove(): Promise<void>;
}

/** Makes an empty folder, readable by this user alone, and sets a watchdog on it. */
export function createWatchedFolder(prefix: string): WatchedFolder {
  const path = mkdtempSync(join(parentFolder(prefix), prefix));
  const logFile = join(path, "log");
  const log = openSync(logFile, "a");
  const watchdog = fork(join(import.meta.dirname, "watchdog.ts"), [path], {
    detached: true,
    execArgv: [],
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);

  const pids = new Set<number>();
  const gone = once(watchdog, "exit").then(([code]) => {
    if (code !== 0) sweep(path, pids);
  });
  let processes = 0;

  return {
    path,
    lastWords: (lines = 15) => lastLines(logFile, lines),
    run: (command) => runUnder(watchdog, gone, pids, { id: ++processes, command }),
    async remove() {
      if (watchdog.connected) watchdog.disconnect();
      await gone;
    },
  };
}

/**
 * The system's folder for temporary files, or `/tmp` where a server could not
 * live in that: a Unix socket's path has at most 107 bytes, and
 * `mariadb-install-db` does not quote paths.
 */
function parentFolder(prefix: string): string {
  const parent = tmpdir();
  const longest = join(parent, `${prefix}XXXXXX`, "socket");
  return /^[\w./-]{1,100}$/.test(longest) ? parent : "/tmp";
}

async function runUnder(
  watchdog: ChildProcess,
  gone: Promise<unknown>,
  pids: Set<number>,
  request: StartRequest,
): Promise<WatchedProcess> {
  const started = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  let alive = true;
  let pid = 0;

  const hear = (report: ProcessReport) => {
    if (report.id !== request.id) return;
    if (report.event === "started") {
      pid = report.pid;
      pids.add(pid);
      started.resolve(pid);
    } else if (report.event === "failed") {
      started.reject(new Error(`${request.command[0]} cannot be started: ${report.reason}`));
      end(report.reason);
    } else {
      end(report.how);
    }
  };
  const end = (how: string) => {
    alive = false;
    pids.delete(pid);
    watchdog.off("message", hear);
    started.reject(new Error(`${request.command[0]} was not started: the watchdog has ended`));
    ended.resolve(how);
  };
  watchdog.on("message", hear);
  gone.then(() => end("with its watchdog"));
  if (watchdog.connected) watchdog.send(request, (error) => error && end(error.message));
  else end("with its watchdog");

  return {
    pid: await started.promise,
    ended: ended.promise,
    signal(name) {
      if (alive) signalGroup(pid, name);
    },
  };
}

/** Where somebody killed the watchdog itself: does what it can no longer do. */
function sweep(path: string, pids: Iterable<number>): void {
  for (const pid of pids) signalGroup(pid, "SIGKILL");
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // it has ended, and the word of it is still on its way
  }
}

function lastLines(file: string, lines: number): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}
