/** The service in a process of its own, whose log is read when the test wants, or never. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { freePort } from "../../../dev/free-port.ts";
import { until } from "../poll.ts";
import { type Ending, type LogLine, spawnService } from "./service-process.ts";

/** What the service's stdout is: a pipe, a socket, or a device on which no space is left. */
export type Stdout = "pipe" | "socket" | "full disk";

/** A running service. */
export interface UnreadService extends AsyncDisposable {
  readonly http: string;
  /** The base URL of the admin port. */
  readonly admin: string;
  /** Starts to read stdout. */
  read(): void;
  /** The lines that were read so far. */
  log(): LogLine[];
  /** Closes the reading end of stdout. */
  closeReader(): void;
  /** Sends SIGTERM, and SIGKILL after 15 s. */
  stop(): Promise<Ending>;
}

/** Starts the service and waits until it listens. */
export async function startUnreadService(
  databaseUrl: string,
  stdout: Stdout,
): Promise<UnreadService> {
  // Its log, which would tell the ports, is not read.
  const [httpPort, adminPort] = [await freePort(), await freePort()];
  const pipe = stdout === "pipe" ? openPipe() : undefined;
  const writer = stdout === "full disk" ? openSync("/dev/full", "w") : pipe?.writer;
  const environment = { HTTP_PORT: `${httpPort}`, ADMIN_PORT: `${adminPort}` };
  const child = spawnService({ ...environment, DATABASE_URL: databaseUrl }, [], writer);
  if (writer !== undefined) closeSync(writer);
  child.stderr?.pipe(process.stderr);
  const reader: Readable | null = pipe?.reader ?? child.stdout;
  const ended = once(child, "exit").then(([code, signal]): Ending => code ?? signal);
  const admin = `http://127.0.0.1:${adminPort}`;
  await until(20_000, () => {
    if (child.exitCode !== null) throw new Error("the service ended");
    return fetch(`${admin}/livez`).then(
      () => true,
      () => false,
    );
  });
  let text = "";
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    return ended.finally(() => clearTimeout(timer));
  };
  return {
    http: `http://127.0.0.1:${httpPort}`,
    admin,
    read() {
      reader?.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    },
    log: () =>
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
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
