/** The service in a process of its own, started as `npm start` starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { poll, waitFor } from "../poll.ts";
import { SEAT_BELT } from "../seat-belt.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the service if the test process exits first. */
const PARENT_WATCH = fileURLToPath(new URL("../../../dev/parent-watch.ts", import.meta.url));

/** How a process ended: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** A parsed line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A running service. */
export interface ServiceProcess {
  /** The base URL of REST, Connect and gRPC-Web: `http://127.0.0.1:PORT`. */
  readonly http: string;
  /** The address of gRPC: `127.0.0.1:PORT`. */
  readonly grpc: string;
  /** The base URL of the admin port. */
  readonly admin: string;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ending>;
  /** Everything it has written so far to stdout and stderr. */
  output(): string;
  /** The lines of its log so far. */
  log(): LogLine[];
  /** The log lines of one request. Waits for the first. */
  logOf(requestId: string): Promise<LogLine[]>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, and waits for the end. Does nothing if the process has ended. */
  stop(): Promise<Ending>;
  /** Ends the process at once, for the end of a test: it does not wait for clients, as a stop does. */
  kill(): Promise<Ending>;
}

/**
 * Starts the service on free ports and waits until it listens.
 *
 * @param folder that of its code; this repository by default
 * @throws Error with its stderr if it ends before that
 */
export async function startService(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  folder = ROOT,
): Promise<ServiceProcess> {
  const child = spawnService({ ...environment, DATABASE_URL: databaseUrl }, [], undefined, folder);
  const { ended, output } = collect(child);
  const log = () => output.stdout.split("\n").slice(0, -1).map(parseLine);
  const listening = await poll(() => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${output.stderr}`);
    return log().find((line) => line.msg === "listening");
  }, "a service that listens");
  const scheme = environment.TLS_CERT_FILE === undefined ? "http" : "https";
  return {
    http: `${scheme}://127.0.0.1:${listening.httpPort}`,
    grpc: `127.0.0.1:${listening.grpcPort}`,
    admin: `http://${environment.ADMIN_HOST ?? "127.0.0.1"}:${listening.adminPort}`,
    ended,
    output: () => output.stdout + output.stderr,
    log,
    logOf: (requestId) =>
      poll(() => {
        const lines = log().filter((line) => line.requestId === requestId);
        return lines.length > 0 ? lines : undefined;
      }, `a line of the request ${requestId} in the log`),
    signal: (name) => {
      child.kill(name);
    },
    async stop() {
      child.kill("SIGTERM");
      return waitFor(ended, "the end of the service after SIGTERM", () => output.stdout);
    },
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** Runs a service that is expected to end by itself. Resolves to its end and its output. */
export async function runService(
  environment: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
) {
  const child = spawnService(environment, args);
  const { ended, output } = collect(child);
  try {
    const ending = await waitFor(ended, "the end of the service", () => output.stdout);
    return { ending, ...output };
  } finally {
    child.kill("SIGKILL");
  }
}

/** Settings with which a busy machine changes no answer: a stop at once, and as long for a call as there may be. */
const UNHURRIED = { STOP_LAME_DUCK_MS: "0", STOP_GRACE_MS: `${TIME_LIMIT}`, MAX_CALL_MS: "25000" };

/**
 * Spawns a service on free ports, with `UNHURRIED` and `SEAT_BELT`.
 *
 * @param stdout a file descriptor; a socket that the test reads by default
 */
export function spawnService(
  environment: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
  stdout?: number,
  folder = ROOT,
): ChildProcess {
  return spawn(process.execPath, ["--import", PARENT_WATCH, "src/main.ts", ...args], {
    cwd: folder,
    env: {
      ...process.env,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      HOST: undefined,
      LOG_LEVEL: undefined,
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      ADMIN_PORT: "0",
      NODE_OPTIONS: SEAT_BELT,
      ...UNHURRIED,
      ...environment,
    },
    stdio: ["ignore", stdout ?? "pipe", "pipe", "ipc"],
  });
}

/** Collects the output of a process until it ends. */
function collect(child: ChildProcess) {
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code, signal]): Ending => code ?? signal);
  return { ended, output };
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`the log has a line that is not JSON: ${line}`);
  }
}
