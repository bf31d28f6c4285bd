/** The service as a process of its own, with its log in a form for people. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pretty from "pino-pretty";
import { freePort, isFree } from "../free-port.ts";

export interface RunningService {
  /** `http://127.0.0.1:8080` */
  readonly http: string;
  /** `http://127.0.0.1:50051` */
  readonly grpc: string;
  /** How the process ended (`with code 1`, `by SIGKILL`), once it has. */
  readonly ended: Promise<string>;
  /** Resolves when the service answers the key; throws where it does not within half a minute. */
  answers(key: string): Promise<void>;
  /** Tells it to finish what is in flight and to end; resolves when it has. */
  stop(): Promise<void>;
}

/** How long the service may take until it answers, and until it has ended, in milliseconds. */
const START_TIMEOUT = 30_000;
const STOP_TIMEOUT = 15_000;

const ROOT = join(import.meta.dirname, "../..");

/** Starts the service on a database, on the ports of the environment or others that are free. */
export async function startService(
  databaseUrl: string,
  say: (line: string) => void,
): Promise<RunningService> {
  const host = process.env.HOST || "127.0.0.1";
  const httpPort = await choosePort("HTTP_PORT", 8080, host, say);
  const grpcPort = await choosePort("GRPC_PORT", 50051, host, say);

  const tether = join(import.meta.dirname, "tether.ts");
  const service = spawn(process.execPath, ["--import", tether, join(ROOT, "src/main.ts")], {
    // Out of reach of the terminal's Ctrl-C, which this process passes on as SIGTERM.
    detached: true,
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HOST: host,
      HTTP_PORT: `${httpPort}`,
      GRPC_PORT: `${grpcPort}`,
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const colorize = process.stdout.isTTY === true;
  service.stdout?.pipe(pretty({ colorize, ignore: "pid,hostname", singleLine: true, sync: true }));

  let running = true;
  const ended = new Promise<string>((resolve) => {
    service.once("error", (error) => resolve(error.message));
    service.once("exit", (code, signal) => resolve(signal ? `by ${signal}` : `with code ${code}`));
  }).finally(() => {
    running = false;
  });

  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const http = `http://${shown}:${httpPort}`;
  return {
    http,
    grpc: `http://${shown}:${grpcPort}`,
    ended,
    async answers(key) {
      const deadline = Date.now() + START_TIMEOUT;
      while (running) {
        const status = await statusOf(`${http}/api/provider/revenue`, key);
        if (status === 200) return;
        if (Date.now() > deadline) {
          throw new Error(`the service does not answer as it should (${status ?? "no answer"})`);
        }
        await sleep(100);
      }
      throw new Error(`the service ended ${await ended}`);
    },
    async stop() {
      if (running) service.kill("SIGTERM");
      const overdue = setTimeout(() => service.kill("SIGKILL"), STOP_TIMEOUT);
      await ended;
      clearTimeout(overdue);
    },
  };
}

async function choosePort(
  name: "HTTP_PORT" | "GRPC_PORT",
  usual: number,
  host: string,
  say: (line: string) => void,
): Promise<number> {
  const wanted = Number(process.env[name] || usual);
  if (wanted === 0) return freePort(host);
  if (await isFree(wanted, host)) return wanted;
  const port = await freePort(host);
  say(`port ${wanted} is taken; using ${port} (${name} chooses another)`);
  return port;
}

/** The HTTP status of an answer, or undefined where there is none yet. */
async function statusOf(url: string, key: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      headers: { "x-api-key": key },
      signal: AbortSignal.timeout(5_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
