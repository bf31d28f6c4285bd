/**
 * Clients that send headers exactly as given, including the same header twice, which clients
 * built on `Headers` cannot.
 */
import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import type { RpcRequest } from "../request.ts";
import {
  methodOf,
  type Outcome,
  type ResponseHeaders,
  type RpcClient,
  requestMessage,
  responseJson,
} from "./client.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { type RawResponse, rawHttp } from "./raw-http.ts";
import { parseExactly, requestTarget } from "./rest-client.ts";

/** The names of the clients, for test tables that are written before the service runs. */
export const RAW_CLIENTS: readonly string[] = createRawClients("http://0.0.0.0", "0.0.0.0").map(
  ({ name }) => name,
);

/** The clients of a service with this base URL and this gRPC address. */
export function createRawClients(http: string, grpc: string): readonly RpcClient[] {
  return [
    createClient("REST", "rest", restCall(http)),
    createClient("Connect, POST", "connect", connectPost(http)),
    createClient("Connect, GET", "connect", connectGet(http)),
    createClient("gRPC-Web", "grpc-web", grpcWeb(http)),
    { ...createGrpcClient(grpc), name: "gRPC" },
  ];
}

function createClient(
  name: string,
  protocol: RpcClient["protocol"],
  call: RpcClient["call"],
): RpcClient {
  return { name, protocol, call, close() {} };
}

function restCall(baseUrl: string): RpcClient["call"] {
  return async (request) => {
    const target = requestTarget(request);
    const response = await rawHttp(baseUrl, { target, headers: request.headers ?? [] });
    const headers = headersOf(response);
    return response.status === 200
      ? { response: parseExactly(response.text), headers }
      : { code: `${response.status}`, message: response.text, headers };
  };
}

function connectPost(baseUrl: string): RpcClient["call"] {
  return async (request) => {
    const response = await rawHttp(baseUrl, {
      method: "POST",
      target: pathOf(request),
      headers: [["content-type", "application/json"], ...(request.headers ?? [])],
      body: jsonOf(request),
    });
    return connectOutcome(response);
  };
}

function connectGet(baseUrl: string): RpcClient["call"] {
  return async (request) => {
    const query = new URLSearchParams({
      connect: "v1",
      encoding: "json",
      message: jsonOf(request),
    });
    const target = `${pathOf(request)}?${query}`;
    return connectOutcome(await rawHttp(baseUrl, { target, headers: request.headers ?? [] }));
  };
}

/** Decodes a unary response of Connect: https://connectrpc.com/docs/protocol/#unary-response */
export function connectOutcome(response: RawResponse): Outcome {
  const headers = headersOf(response);
  const body = JSON.parse(response.text);
  if (response.status === 200) return { response: body, headers };
  return { code: String(body.code).toUpperCase(), message: body.message, headers };
}

function grpcWeb(baseUrl: string): RpcClient["call"] {
  return async (request) => {
    const response = await rawHttp(baseUrl, {
      method: "POST",
      target: pathOf(request),
      headers: [["content-type", "application/grpc-web+proto"], ...(request.headers ?? [])],
      body: frame(toBinary(methodOf(request.method).input, requestMessage(request))),
    });
    return grpcWebOutcome(request, response);
  };
}

/** A length-prefixed message of gRPC: flags, length, bytes. */
export function frame(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Decodes a gRPC-Web response: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md */
export function grpcWebOutcome({ method }: RpcRequest, response: RawResponse): Outcome {
  const { output } = methodOf(method);
  let headers = headersOf(response);
  let message = create(output);
  for (let rest = response.bytes; rest.length > 0; ) {
    const end = 5 + rest.readUInt32BE(1);
    const bytes = rest.subarray(5, end);
    if (rest.readUInt8() & 0x80) headers = { ...headers, ...parseTrailers(bytes.toString()) };
    else message = fromBinary(output, bytes);
    rest = rest.subarray(end);
  }
  if (headers["grpc-status"] === "0") return { response: responseJson(output, message), headers };
  const code = status[Number(headers["grpc-status"])] ?? `${headers["grpc-status"]}`;
  return { code, message: decodeURIComponent(headers["grpc-message"] ?? ""), headers };
}

function parseTrailers(block: string): ResponseHeaders {
  const lines = block.split("\r\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function pathOf({ method }: RpcRequest): string {
  return `/revenue.v1.RevenueService/${method}`;
}

function jsonOf(request: RpcRequest): string {
  return toJsonString(methodOf(request.method).input, requestMessage(request));
}

function headersOf({ headers }: RawResponse): ResponseHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`]));
}
