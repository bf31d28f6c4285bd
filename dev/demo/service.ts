/** The demo's service: a child process with a human-readable log. */
import { setTimeout as sleep } from "node:timers/promises";
import pretty from "pino-pretty";
import { freePort, isFree } from "../free-port.ts";
import { TIME_LIMIT } from "../time-limit.ts";
import { type RunningScript, startScript } from "./script.ts";

/** The service and its addresses. */
export interface RunningService extends Pick<RunningScript, "ended" | "stop"> {
  /** `http://127.0.0.1:8080` */
  readonly http: string;
  /** `http://127.0.0.1:50051` */
  readonly grpc: string;
  /** Resolves when the service answers a request with the key. Throws an Error if it never does. */
  untilReady(key: string): Promise<void>;
}

/** Starts the service on a database, on the ports in the environment or on free ones. */
export async function startService(
  databaseUrl: string,
  log: (line: string) => void,
): Promise<RunningService> {
  const host = process.env.HOST || "127.0.0.1";
  const chosen = new Set<number>();
  /** A port of its own: the one in the environment, or a free one. */
  const choose = async (name: string, defaultPort: number) => {
    const preferred = Number(process.env[name] || defaultPort);
    if (preferred !== 0 && (await isFree(preferred, host))) return preferred;
    let port = await freePort(host);
    while (chosen.has(port)) port = await freePort(host);
    chosen.add(port);
    if (preferred !== 0) {
      log(`port ${preferred} is in use; using ${port} (set ${name} to choose another)`);
    }
    return port;
  };
  const httpPort = await choose("HTTP_PORT", 8080);
  const grpcPort = await choose("GRPC_PORT", 50051);
  const adminPort = process.env.ADMIN_PORT === "off" ? "off" : await choose("ADMIN_PORT", 9464);
  const env = {
    DATABASE_URL: databaseUrl,
    HOST: host,
    HTTP_PORT: `${httpPort}`,
    GRPC_PORT: `${grpcPort}`,
    ADMIN_PORT: `${adminPort}`,
    // No load balancer needs time to notice.
    STOP_LAME_DUCK_MS: "0",
  };
  const { child, ended, stop } = startScript(["src/main.ts"], env, "pipe");
  const colorize = process.stdout.isTTY === true;
  child.stdout?.pipe(pretty({ colorize, ignore: "pid,hostname", singleLine: true, sync: true }));

  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const http = `http://${address}:${httpPort}`;
  return {
    http,
    grpc: `http://${address}:${grpcPort}`,
    ended,
    stop,
    async untilReady(key) {
      const deadline = performance.now() + TIME_LIMIT;
      while (child.exitCode === null && child.signalCode === null) {
        const status = await requestStatus(`${http}/api/provider/revenue`, key);
        if (status === 200) return;
        if (performance.now() > deadline) {
          throw new Error(`the service is not ready (${status ?? "no response"})`);
        }
        await sleep(100);
      }
      throw new Error(`the service ended ${await ended}`);
    },
  };
}

/** The HTTP status of a response, or undefined without one. */
async function requestStatus(url: string, key: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      headers: { "x-api-key": key },
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
