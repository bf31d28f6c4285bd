/** The service as people run it: `node src/main.ts`, a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { poll } from "../poll.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Ends the service where the process that runs the tests is gone. */
const TETHER = fileURLToPath(new URL("./tether.ts", import.meta.url));

/** How a process ended: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** A line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface ServiceProcess {
  /** `http://127.0.0.1:PORT`: REST, Connect and gRPC-Web. */
  readonly http: string;
  /** `127.0.0.1:PORT`: gRPC. */
  readonly grpc: string;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ending>;
  /** All that it has written so far, to stdout and to stderr. */
  output(): string;
  /** The lines of its log so far. */
  log(): LogLine[];
  /** The log's lines of one request, once there is one; waits for it for two seconds. */
  logOf(requestId: string): Promise<LogLine[]>;
  signal(name: NodeJS.Signals): void;
  /** Ends it with SIGTERM, and with SIGKILL where that does not help. Nothing where it has ended. */
  stop(): Promise<Ending>;
}

/** Starts the service on free ports and waits until it says that it listens. */
export async function startService(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const { child, ended, written } = run({ ...environment, DATABASE_URL: databaseUrl });
  const log = () => written.stdout.split("\n").slice(0, -1).map(parseLine);
  const listening = await poll(20_000, () => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${written.stderr}`);
    return log().find((line) => line.msg === "listening");
  });
  return {
    http: `http://127.0.0.1:${listening.httpPort}`,
    grpc: `127.0.0.1:${listening.grpcPort}`,
    ended,
    output: () => written.stdout + written.stderr,
    log,
    logOf: (requestId) =>
      poll(2_000, () => {
        const lines = log().filter((line) => line.requestId === requestId);
        return lines.length > 0 ? lines : undefined;
      }),
    signal: (name) => {
      child.kill(name);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return ended;
      child.kill("SIGTERM");
      const overdue = setTimeout(() => child.kill("SIGKILL"), 15_000);
      return ended.finally(() => clearTimeout(overdue));
    },
  };
}

/** What became of a service that ended by itself. */
export interface Outcome {
  readonly ending: Ending;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the service where it is expected to end by itself. Kills it after 20 seconds. */
export async function runService(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Outcome> {
  const { child, ended, written } = run(environment);
  const overdue = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const ending = await ended;
  clearTimeout(overdue);
  return { ending, ...written };
}

function run(environment: Readonly<Record<string, string | undefined>>) {
  const child: ChildProcess = spawn(process.execPath, ["--import", TETHER, "src/main.ts"], {
    cwd: ROOT,
    env: {
      ...process.env,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      HOST: undefined,
      LOG_LEVEL: undefined,
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const written = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    written.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    written.stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]): Ending => code ?? signal);
  return { child, ended, written };
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`not a line of JSON in the log: ${line}`);
  }
}
