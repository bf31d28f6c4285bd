/** Connect, gRPC-Web, and gRPC by connect-node: the clients of Connect-ES. */
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { status } from "@grpc/grpc-js";
import { type Head, methodOf, type RpcClient, requestOf, shown } from "./client.ts";

type Options = Parameters<typeof createConnectTransport>[0];

const connect = (base: string, options: Partial<Options>) =>
  createConnectTransport({ baseUrl: base, httpVersion: "1.1", ...options } as Options);

/** The Connect clients of an HTTP port. */
export function createConnectClients(base: string): readonly RpcClient[] {
  return [
    door("Connect, POST, binary", "connect", connect(base, { useBinaryFormat: true })),
    door("Connect, POST, JSON", "connect", connect(base, { useBinaryFormat: false })),
    door(
      "Connect, GET, binary",
      "connect",
      connect(base, { useBinaryFormat: true, useHttpGet: true }),
    ),
    door(
      "Connect, GET, JSON",
      "connect",
      connect(base, { useBinaryFormat: false, useHttpGet: true }),
    ),
  ];
}

/** The gRPC-Web clients of an HTTP port. */
export function createGrpcWebClients(base: string): readonly RpcClient[] {
  return [true, false].map((useBinaryFormat) =>
    door(
      `gRPC-Web, ${useBinaryFormat ? "binary" : "JSON"}`,
      "grpc-web",
      createGrpcWebTransport({ baseUrl: base, httpVersion: "1.1", useBinaryFormat }),
    ),
  );
}

/** The gRPC port with connect-node as its client. */
export function createConnectNodeGrpcClient(address: string): RpcClient {
  return door("gRPC, connect-node", "grpc", createGrpcTransport({ baseUrl: `http://${address}` }));
}

function door(name: string, protocol: RpcClient["protocol"], transport: Transport): RpcClient {
  return {
    name,
    protocol,
    async call(question) {
      const method = methodOf(question.method);
      const headers = (question.headers ?? []).map(([key, value]): [string, string] => [
        key,
        value,
      ]);
      try {
        const { message, header, trailer } = await transport.unary(
          method,
          question.signal,
          question.timeout,
          headers,
          requestOf(question),
        );
        return { answer: shown(method.output, message), head: headOf(header, trailer) };
      } catch (thrown) {
        if (!(thrown instanceof ConnectError)) throw thrown;
        return {
          code: codeName(thrown.code),
          message: thrown.rawMessage,
          head: headOf(thrown.metadata),
        };
      }
    },
    close() {},
  };
}

/** A code in gRPC's spelling: `INVALID_ARGUMENT`. */
export function codeName(code: Code): string {
  return status[code] ?? Code[code] ?? `${code}`;
}

function headOf(...parts: readonly Headers[]): Head {
  return Object.fromEntries(parts.flatMap((part) => [...part]));
}
