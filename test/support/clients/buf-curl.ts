/** `buf curl` as a client: gRPC, Connect and gRPC-Web from the command line. */
import { type CommandResult, runProgram } from "../commands/run-command.ts";
import { methodOf, type Outcome, type RpcClient } from "./client.ts";

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
        `${baseUrl}/${methodOf(method).parent.typeName}/${method}`,
      ]);
      return code === 0 ? { response: JSON.parse(stdout), headers: {} } : parseError(stderr);
    },
    close() {},
  };
}

/** Runs `buf curl` with arguments. */
export function bufCurl(args: readonly string[]): Promise<CommandResult> {
  return runProgram("node_modules/.bin/buf", ["curl", ...args]);
}

function parseError(stderr: string): Outcome {
  try {
    const { code, message }: { code: string; message: string } = JSON.parse(stderr);
    return { code: code.toUpperCase(), message, headers: {} };
  } catch {
    throw new Error(`buf curl: ${stderr}`);
  }
}
