/** A peer as a process of its own, so that its CPU time is its own too. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface PeerProcess extends AsyncDisposable {
  /** `http://127.0.0.1:…` */
  readonly url: string;
}

/** Starts a script on a database; it writes `{"httpPort":…}` in a JSON line once it listens. */
export async function startProcess(script: string, databaseUrl: string): Promise<PeerProcess> {
  const root = join(import.meta.dirname, "..");
  const child = spawn(process.execPath, [join(root, script)], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      // As it runs for real: a line per call, which nobody reads here.
      LOG_LEVEL: "info",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    ended.then(() => reject(new Error(`${script} ended before it listened`)));
    createInterface(child.stdout).on("line", (line) => {
      const { httpPort } = JSON.parse(line) as { httpPort?: number };
      if (httpPort !== undefined) resolve(httpPort);
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
