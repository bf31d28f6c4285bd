/** Runs a peer in a child process, so that its CPU time can be measured. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

const ROOT = join(import.meta.dirname, "..");
const PARENT_WATCH = join(ROOT, "dev/parent-watch.ts");

/** A running peer. */
export interface PeerProcess extends AsyncDisposable {
  /** `http://127.0.0.1:…` */
  readonly url: string;
  /** `http://127.0.0.1:…` of the admin port; undefined without one. */
  readonly admin: string | undefined;
  /** The gRPC port; NaN without one. */
  readonly grpcPort: number;
  readonly pid: number;
}

interface Ports {
  readonly httpPort: number;
  readonly grpcPort?: number;
  readonly adminPort?: number;
}

/**
 * Starts a script. When it listens, it writes a JSON line with `httpPort` and, if it has them,
 * `grpcPort` and `adminPort`.
 *
 * @param script from the root of this repository, or absolute
 * @param env added to the environment of this process
 * @throws Error if the script ends before it listens
 */
export async function startProcess(
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<PeerProcess> {
  const child = spawn(process.execPath, ["--import", PARENT_WATCH, resolve(ROOT, script)], {
    // As in production, the service logs a line per call.
    env: {
      ...process.env,
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      ADMIN_PORT: "0",
      STOP_LAME_DUCK_MS: "0",
      LOG_LEVEL: "info",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const ports = await new Promise<Ports>((resolve, reject) => {
    ended.then(() => reject(new Error(`${script} ended before it listened`)));
    const lines = createInterface(child.stdout as Readable);
    lines.on("line", (line) => {
      const { httpPort, grpcPort, adminPort } = JSON.parse(line);
      if (httpPort === undefined) return;
      lines.close();
      resolve({ httpPort, grpcPort, adminPort });
    });
  });
  child.stdout?.resume(); // the log is read, and not looked at
  return {
    url: `http://127.0.0.1:${ports.httpPort}`,
    admin: ports.adminPort === undefined ? undefined : `http://127.0.0.1:${ports.adminPort}`,
    grpcPort: ports.grpcPort ?? Number.NaN,
    pid: child.pid ?? Number.NaN,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
