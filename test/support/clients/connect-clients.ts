/** The clients of Connect-ES: Connect, gRPC-Web, and gRPC by connect-node. */
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import {
  methodOf,
  type ResponseHeaders,
  type RpcClient,
  requestMessage,
  responseJson,
} from "./client.ts";

/** Connect clients of an HTTP port: POST and GET, binary and JSON. */
export function createConnectClients(baseUrl: string): readonly RpcClient[] {
  return [false, true].flatMap((useHttpGet) =>
    [true, false].map((useBinaryFormat) =>
      createClient(
        `Connect, ${useHttpGet ? "GET" : "POST"}, ${useBinaryFormat ? "binary" : "JSON"}`,
        "connect",
        createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat, useHttpGet }),
      ),
    ),
  );
}

/** gRPC-Web clients of an HTTP port: binary and JSON. */
export function createGrpcWebClients(baseUrl: string): readonly RpcClient[] {
  return [true, false].map((useBinaryFormat) =>
    createClient(
      `gRPC-Web, ${useBinaryFormat ? "binary" : "JSON"}`,
      "grpc-web",
      createGrpcWebTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat }),
    ),
  );
}

/** connect-node's gRPC client of a gRPC port. */
export function createConnectNodeGrpcClient(address: string): RpcClient {
  const transport = createGrpcTransport({ baseUrl: `http://${address}` });
  return createClient("gRPC, connect-node", "grpc", transport);
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
      const headers = (request.headers ?? []).map(([key, value]): [string, string] => [key, value]);
      try {
        const { message, header, trailer } = await transport.unary(
          method,
          request.signal,
          request.timeout,
          headers,
          requestMessage(request),
        );
        return {
          response: responseJson(method.output, message),
          headers: responseHeaders(header, trailer),
        };
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        return {
          code: status[error.code] ?? Code[error.code] ?? `${error.code}`,
          message: error.rawMessage,
          headers: responseHeaders(error.metadata),
        };
      }
    },
    close() {},
  };
}

function responseHeaders(...parts: readonly Headers[]): ResponseHeaders {
  return Object.fromEntries(parts.flatMap((part) => [...part]));
}
