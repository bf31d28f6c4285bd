/** The service in a process of its own, whose log is not read. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { freePort } from "../../../dev/free-port.ts";
import { until } from "../poll.ts";
import { type Ending, spawnService } from "./service-process.ts";

/** A running service. */
export interface UnreadService extends AsyncDisposable {
  readonly http: string;
  /** Closes the reading end of stdout. */
  closeReader(): void;
  /** Sends SIGTERM, and SIGKILL after 15 s. */
  stop(): Promise<Ending>;
}

/**
 * Starts the service and waits until it listens.
 *
 * @param stdout what a shell makes, or what Node makes for a process that it starts
 */
export async function startUnreadService(
  databaseUrl: string,
  stdout: "pipe" | "socket",
): Promise<UnreadService> {
  // Its log, which would tell the port, is not read.
  const httpPort = await freePort();
  const pipe = stdout === "pipe" ? openPipe() : undefined;
  const environment = { HTTP_PORT: `${httpPort}`, DATABASE_URL: databaseUrl };
  const child = spawnService(environment, [], pipe?.writer);
  if (pipe !== undefined) closeSync(pipe.writer);
  child.stderr?.pipe(process.stderr);
  const reader: Readable | null = pipe?.reader ?? child.stdout;
  const ended = once(child, "exit").then(([code, signal]): Ending => code ?? signal);
  const http = `http://127.0.0.1:${httpPort}`;
  await until(20_000, () => {
    if (child.exitCode !== null) throw new Error("the service ended");
    return fetch(http).then(
      () => true,
      () => false,
    );
  });
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    return ended.finally(() => clearTimeout(timer));
  };
  return {
    http,
    closeReader: () => void reader?.destroy(),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      reader?.destroy();
    },
  };
}

/** A pipe as a shell makes it. Node's own "pipe" is a socket. */
function openPipe(): { reader: Readable; writer: number } {
  const directory = mkdtempSync(join(tmpdir(), "stdout-"));
  const path = join(directory, "pipe");
  execFileSync("mkfifo", [path]);
  // Without O_NONBLOCK, each end waits for the other one.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  rmSync(directory, { recursive: true });
  return { reader: new Socket({ fd, readable: true, writable: false }), writer };
}
