/** `buf curl` as a client: gRPC, Connect and gRPC-Web from the command line. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Outcome, RpcClient } from "./client.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** gRPC with the server's reflection; Connect and gRPC-Web with the schema in the repository. */
export function createBufCurlClients(http: string, grpc: string): readonly RpcClient[] {
  const localSchema = ["--schema", "."];
  return [
    createClient("buf curl, gRPC, reflection", "grpc", `http://${grpc}`, [
      "--protocol",
      "grpc",
      "--http2-prior-knowledge",
    ]),
    createClient("buf curl, Connect", "connect", http, ["--protocol", "connect", ...localSchema]),
    createClient("buf curl, gRPC-Web", "grpc-web", http, ["--protocol", "grpcweb", ...localSchema]),
  ];
}

function createClient(
  name: string,
  protocol: RpcClient["protocol"],
  baseUrl: string,
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
        "--data",
        JSON.stringify(message),
        `${baseUrl}/revenue.v1.RevenueService/${method}`,
      ]);
      return code === 0 ? { response: JSON.parse(stdout), headers: {} } : parseError(stderr);
    },
    close() {},
  };
}

/** Runs `buf curl` with arguments. Killed after 30 s. */
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

function parseError(stderr: string): Outcome {
  try {
    const { code, message }: { code: string; message: string } = JSON.parse(stderr);
    return { code: code.toUpperCase(), message, headers: {} };
  } catch {
    throw new Error(`buf curl: ${stderr}`);
  }
}
