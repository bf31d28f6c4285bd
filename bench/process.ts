/** A peer as a process of its own, so that its CPU time is its own too. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface PeerProcess extends AsyncDisposable {
  /** `http://127.0.0.1:…` */
  readonly url: string;
  /** The gRPC port; NaN where it has none. */
  readonly grpcPort: number;
  readonly pid: number;
}

/**
 * Starts a script; it writes `{"httpPort":…}`, or `grpcPort` too, in a JSON line once it listens.
 *
 * @param env besides what this process has: `DATABASE_URL`, …
 */
export async function startProcess(
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<PeerProcess> {
  const root = join(import.meta.dirname, "..");
  const child = spawn(process.execPath, [join(root, script)], {
    // As it runs for real: a line per call, which nobody reads here.
    env: { ...process.env, HTTP_PORT: "0", GRPC_PORT: "0", LOG_LEVEL: "info", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ports = await new Promise<{ httpPort: number; grpcPort?: number }>((resolve, reject) => {
    ended.then(() => reject(new Error(`${script} ended before it listened`)));
    createInterface(child.stdout).on("line", (line) => {
      const { httpPort, grpcPort } = JSON.parse(line);
      if (httpPort !== undefined) resolve({ httpPort, grpcPort });
    });
  });
  return {
    url: `http://127.0.0.1:${ports.httpPort}`,
    grpcPort: ports.grpcPort ?? Number.NaN,
    pid: child.pid ?? Number.NaN,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
