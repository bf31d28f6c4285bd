/** The service in a process of its own, whose log is read when the test wants, or never. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { connect, createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { until } from "../poll.ts";
import type { Ending, LogLine } from "./service-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the service if the test process exits first. */
const PARENT_WATCH = fileURLToPath(new URL("../../../dev/parent-watch.ts", import.meta.url));

/** What the service's stdout is: a pipe, a socket, or a device on which no space is left. */
export type Stdout = "pipe" | "socket" | "full disk";

/** A running service. */
export interface UnreadService extends AsyncDisposable {
  readonly http: string;
  /** The base URL of the admin port. */
  readonly admin: string;
  readonly pid: number;
  /** Everything it has written so far to stderr. */
  stderr(): string;
  /** Starts to read stdout. */
  read(): void;
  /** The lines that were read so far. */
  log(): LogLine[];
  /** Closes the reading end of stdout. */
  closeReader(): void;
  /** Sends SIGTERM, and SIGKILL after 15 s. The duration until the exit is in ms. */
  stop(): Promise<{ readonly ending: Ending; readonly duration: number }>;
}

/** Starts the service and waits until it listens. */
export async function startUnreadService(
  databaseUrl: string,
  stdout: Stdout,
): Promise<UnreadService> {
  const [httpPort, grpcPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const pipe = stdout === "pipe" ? openPipe() : undefined;
  const full = stdout === "full disk" ? openSync("/dev/full", "w") : undefined;
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, "src/main.ts"], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...{ HTTP_PORT: `${httpPort}`, GRPC_PORT: `${grpcPort}`, DATABASE_URL: databaseUrl },
      ADMIN_PORT: `${adminPort}`,
      STOP_LAME_DUCK_MS: "0",
    },
    stdio: ["ignore", pipe?.writer ?? full ?? "pipe", "pipe", "ipc"],
  });
  for (const fd of [pipe?.writer, full]) if (fd !== undefined) closeSync(fd);
  const ended = once(child, "exit").then(([code, signal]): Ending => code ?? signal);
  const reader: Readable | null = pipe?.reader ?? child.stdout;
  let text = "";
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  await until(20_000, async () => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${errors}`);
    return (await isListening(httpPort)) && (await isListening(adminPort));
  });
  const stop = async () => {
    const start = performance.now();
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    const ending = await ended;
    clearTimeout(timer);
    return { ending, duration: performance.now() - start };
  };
  return {
    http: `http://127.0.0.1:${httpPort}`,
    admin: `http://127.0.0.1:${adminPort}`,
    pid: child.pid ?? 0,
    stderr: () => errors,
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
