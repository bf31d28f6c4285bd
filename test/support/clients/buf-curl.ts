/** `buf curl`, the command line's client, as people paste it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Outcome, RpcClient } from "./client.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** gRPC with the server's reflection, and Connect and gRPC-Web with the schema of this folder. */
export function createBufCurlClients(base: string, address: string): readonly RpcClient[] {
  const local = ["--schema", "."];
  return [
    door("buf curl, gRPC, reflection", "grpc", `http://${address}`, [
      ...["--protocol", "grpc", "--http2-prior-knowledge"],
    ]),
    door("buf curl, Connect", "connect", base, ["--protocol", "connect", ...local]),
    door("buf curl, gRPC-Web", "grpc-web", base, ["--protocol", "grpcweb", ...local]),
  ];
}

function door(
  name: string,
  protocol: RpcClient["protocol"],
  base: string,
  options: readonly string[],
): RpcClient {
  return {
    name,
    protocol,
    async call({ method, message = {}, headers = [] }) {
      const { code, stdout, stderr } = await bufCurl([
        ...options,
        "--emit-defaults",
        ...headers.flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
        ...["--data", JSON.stringify(message)],
        `${base}/revenue.v1.RevenueService/${method}`,
      ]);
      return code === 0 ? { answer: JSON.parse(stdout), head: {} } : refusal(stderr);
    },
    close() {},
  };
}

/** Runs `buf curl` with arguments. */
export function bufCurl(
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { promise, resolve } = Promise.withResolvers<{
    code: number;
    stdout: string;
    stderr: string;
  }>();
  const child = execFile(
    `${ROOT}node_modules/.bin/buf`,
    ["curl", ...args],
    { cwd: ROOT, timeout: 30_000 },
    (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

function refusal(stderr: string): Outcome {
  try {
    const { code, message }: { code: string; message: string } = JSON.parse(stderr);
    return { code: code.toUpperCase(), message, head: {} };
  } catch {
    throw new Error(`buf curl: ${stderr}`);
  }
}
