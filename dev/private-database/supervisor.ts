/**
 * The supervisor: a process that owns one folder and every process that runs in it. It starts
 * commands at its parent's request. When the parent exits for any reason (normally, by Ctrl-C, in
 * a crash, by SIGKILL), the IPC channel closes: the supervisor then kills what it started,
 * removes the folder and exits. `SupervisedFolder.remove` uses the same mechanism.
 *
 * It runs in its own session, so the terminal's Ctrl-C does not reach it. Each command runs in
 * its own process group.
 *
 * Usage: `node supervisor.ts FOLDER`, with an IPC channel to the parent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";

/** The parent's request to start a command. The parent chooses the id. */
export interface StartRequest {
  readonly id: number;
  readonly command: readonly string[];
}

/** An event of the process with that id: `started` then `ended`, or `failed`. */
export type ProcessReport =
  | { readonly id: number; readonly event: "started"; readonly pid: number }
  | { readonly id: number; readonly event: "failed"; readonly reason: string }
  | { readonly id: number; readonly event: "ended"; readonly exit: string };

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || process.send === undefined) {
    throw new Error("only supervised-folder.ts may start the supervisor");
  }
  supervise(folder);
}

function supervise(folder: string): void {
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
      report({ id, event: "ended", exit: signal ? `by ${signal}` : `with code ${code}` });
    });
  }

  function report(message: ProcessReport): void {
    if (process.connected) process.send?.(message, () => {});
  }

  async function end(): Promise<void> {
    if (ending) return;
    ending = true;
    // A process that was just forked emits `spawn` in the next turn of the event loop.
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
    // The process has ended, but its `exit` event is still pending.
  }
}
