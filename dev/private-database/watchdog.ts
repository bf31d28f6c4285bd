/**
 * The watchdog: a process of its own that owns one folder and every process
 * that runs in it. It starts what its parent asks for, and when the parent goes
 * away, for whatever reason (a normal end, Ctrl-C, a crash, `kill -9`), the
 * channel between the two closes: then it kills what it started, removes the
 * folder and ends. There is no other way to stop, so this one is always tested.
 *
 * It runs in its own session, out of reach of the terminal's Ctrl-C; so does
 * everything it starts, each in its own process group.
 *
 * `node watchdog.ts FOLDER`, with an IPC channel to the parent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";

/** What the parent asks for: to start a command, under a number of the parent's choice. */
export interface StartRequest {
  readonly id: number;
  readonly command: readonly string[];
}

/** What the parent is told of the process with that number, in this order. */
export type ProcessReport =
  | { readonly id: number; readonly event: "started"; readonly pid: number }
  | { readonly id: number; readonly event: "failed"; readonly reason: string }
  | { readonly id: number; readonly event: "ended"; readonly how: string };

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || process.send === undefined) {
    throw new Error("the watchdog is started by watched-folder.ts alone");
  }
  watch(folder);
}

function watch(folder: string): void {
  const running = new Set<ChildProcess>();
  let ending = false;

  process.on("message", (request: StartRequest) => {
    if (!ending) start(request);
  });
  process.on("disconnect", end);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);
  process.on("uncaughtException", (error) => {
    console.error(error);
    end();
  });

  function start({ id, command: [program = "", ...args] }: StartRequest): void {
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.once("spawn", () => {
      running.add(child);
      report({ id, event: "started", pid: child.pid ?? 0 });
    });
    child.once("error", (error) => report({ id, event: "failed", reason: error.message }));
    child.once("exit", (code, signal) => {
      running.delete(child);
      report({ id, event: "ended", how: signal ? `by ${signal}` : `with code ${code}` });
    });
  }

  function report(message: ProcessReport): void {
    if (process.connected) process.send?.(message, () => {});
  }

  async function end(): Promise<void> {
    if (ending) return;
    ending = true;
    // Let a process that was just forked announce itself, or it would be missed.
    await new Promise(setImmediate);
    await Promise.all(
      [...running].map((child) => {
        const ended = once(child, "exit");
        killGroup(child);
        return ended;
      }),
    );
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    process.exit();
  }
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), "SIGKILL");
  } catch {
    // it has ended between two ticks
  }
}
