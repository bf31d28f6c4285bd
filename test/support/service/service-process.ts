/** The service in a process of its own, started as `npm start` starts it. */
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { spawnProgram } from "../commands/run-command.ts";
import { poll, waitFor } from "../poll.ts";

/** A parsed line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A running service: `startService`. */
export type ServiceProcess = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the service on free ports and waits until it listens.
 *
 * @param folder that of its code; this repository by default
 * @throws Error with its stderr if it ends before that
 */
export async function startService(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  folder?: string,
) {
  const own = { ...environment, DATABASE_URL: databaseUrl };
  const { child, ended, output } = spawnService(own, [], "pipe", folder);
  const log = () => output.stdout.split("\n").slice(0, -1).map(parseLine);
  const listening = await poll(() => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${output.stderr}`);
    return log().find((line) => line.msg === "listening");
  }, "a service that listens");
  const scheme = environment.TLS_CERT_FILE === undefined ? "http" : "https";
  return {
    /** The base URL of REST, Connect and gRPC-Web: `http://127.0.0.1:PORT`. */
    http: `${scheme}://127.0.0.1:${listening.httpPort}`,
    /** The address of gRPC: `127.0.0.1:PORT`. */
    grpc: `127.0.0.1:${listening.grpcPort}`,
    /** The base URL of the admin port. */
    admin: `http://${environment.ADMIN_HOST ?? "127.0.0.1"}:${listening.adminPort}`,
    /** Resolves when the process has ended, to its exit code, or the signal that ended it. */
    ended,
    /** Everything it has written so far to stdout and stderr. */
    output: () => output.stdout + output.stderr,
    /** The lines of its log so far. */
    log,
    /** The log lines of one request. Waits for the first. */
    logOf: (requestId: string) =>
      poll(() => {
        const lines = log().filter((line) => line.requestId === requestId);
        return lines.length > 0 ? lines : undefined;
      }, `a line of the request ${requestId} in the log`),
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** Sends SIGTERM, and waits for the end. Does nothing if the process has ended. */
    stop() {
      child.kill("SIGTERM");
      return waitFor(ended, "the end of the service after SIGTERM", () => output.stdout);
    },
    /** Ends the process at once, for the end of a test: it does not wait for clients, as a stop does. */
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
  const { child, ended, output } = spawnService(environment, args);
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
 * Spawns a service on free ports, with `UNHURRIED` and Node's permissions.
 *
 * @param stdout a file descriptor; a socket that the test reads by default
 */
export function spawnService(
  environment: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
  stdout: number | "pipe" = "pipe",
  folder?: string,
) {
  const ports = { HTTP_PORT: "0", GRPC_PORT: "0", ADMIN_PORT: "0" };
  const unset = { HOST: undefined, LOG_LEVEL: undefined };
  const all = { ...unset, ...ports, ...UNHURRIED, ...environment };
  return spawnProgram(["src/main.ts", ...args], all, folder, stdout);
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`the log has a line that is not JSON: ${line}`);
  }
}
