/** The clients of Connect-ES: Connect, gRPC-Web, and gRPC by connect-node. */
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import { methodOf, type RpcClient, requestMessage, responseJson } from "./client.ts";

/**
 * The clients of an HTTP port and of a gRPC port. Other messages as bytes: binary by POST, JSON by GET, gRPC-Web
 * with JSON: test/end-to-end/protocols/messages.test.ts.
 */
export function createConnectClients(baseUrl: string, grpc: string): readonly RpcClient[] {
  const http = { baseUrl, httpVersion: "1.1" } as const;
  const get = { useHttpGet: true, useBinaryFormat: true };
  return [
    createClient("Connect, POST, JSON", "connect", createConnectTransport(http)),
    createClient("Connect, GET, binary", "connect", createConnectTransport({ ...http, ...get })),
    createClient("gRPC-Web", "grpc-web", createGrpcWebTransport(http)),
    createClient("gRPC, connect-node", "grpc", createGrpcTransport({ baseUrl: `http://${grpc}` })),
  ];
}

function createClient(
  name: string,
  protocol: RpcClient["protocol"],
  transport: Transport,
): RpcClient {
  return {
    name,
    protocol,
    async call(request) {
      const method = methodOf(request.method);
      const sent = (request.headers ?? []).map(([key, value]): [string, string] => [key, value]);
      try {
        const { message, header, trailer } = await transport.unary(
          method,
          request.signal,
          request.timeout,
          sent,
          requestMessage(request),
        );
        const headers = Object.fromEntries([...header, ...trailer]);
        return { response: responseJson(method.output, message), headers };
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        const code = status[error.code] ?? Code[error.code] ?? `${error.code}`;
        return { code, message: error.rawMessage, headers: Object.fromEntries(error.metadata) };
      }
    },
    close() {},
  };
}
