/**
 * Clients that send headers exactly as they are given, the same one twice included, which
 * clients with a `Headers` cannot.
 */
import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import type { RpcRequest } from "../request.ts";
import { type Head, methodOf, type Outcome, type RpcClient, requestOf, shown } from "./client.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { type RawAnswer, rawHttp } from "./raw-http.ts";
import { exactly, targetOf } from "./rest-client.ts";

export const RAW_CLIENTS: readonly string[] = createRawClients("http://0.0.0.0", "0.0.0.0").map(
  (door) => door.name,
);

/** The clients of a service, by the ports' addresses. */
export function createRawClients(http: string, grpc: string): readonly RpcClient[] {
  return [
    door("REST", "rest", restCall(http)),
    door("Connect, POST", "connect", connectPost(http)),
    door("Connect, GET", "connect", connectGet(http)),
    door("gRPC-Web", "grpc-web", grpcWeb(http)),
    { ...createGrpcClient(grpc), name: "gRPC" },
  ];
}

function door(name: string, protocol: RpcClient["protocol"], call: RpcClient["call"]): RpcClient {
  return { name, protocol, call, close() {} };
}

function restCall(base: string): RpcClient["call"] {
  return async (question) => {
    const target = targetOf(question);
    const answer = await rawHttp(base, { target, headers: question.headers ?? [] });
    const head = headOf(answer);
    return answer.status === 200
      ? { answer: exactly(answer.text), head }
      : { code: `${answer.status}`, message: answer.text, head };
  };
}

function connectPost(base: string): RpcClient["call"] {
  return async (question) => {
    const answer = await rawHttp(base, {
      method: "POST",
      target: pathOf(question),
      headers: [["content-type", "application/json"], ...(question.headers ?? [])],
      body: jsonOf(question),
    });
    return connectOutcome(answer);
  };
}

function connectGet(base: string): RpcClient["call"] {
  return async (question) => {
    const query = new URLSearchParams({
      connect: "v1",
      encoding: "json",
      message: jsonOf(question),
    });
    const target = `${pathOf(question)}?${query}`;
    return connectOutcome(await rawHttp(base, { target, headers: question.headers ?? [] }));
  };
}

/** https://connectrpc.com/docs/protocol/#unary-response */
export function connectOutcome(answer: RawAnswer): Outcome {
  const head = headOf(answer);
  const body = JSON.parse(answer.text);
  if (answer.status === 200) return { answer: body, head };
  return { code: String(body.code).toUpperCase(), message: body.message, head };
}

function grpcWeb(base: string): RpcClient["call"] {
  return async (question) => {
    const answer = await rawHttp(base, {
      method: "POST",
      target: pathOf(question),
      headers: [["content-type", "application/grpc-web+proto"], ...(question.headers ?? [])],
      body: frame(toBinary(methodOf(question.method).input, requestOf(question))),
    });
    return grpcWebOutcome(question, answer);
  };
}

/** A message of gRPC as it goes over the wire: flags, length, bytes. */
export function frame(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md */
export function grpcWebOutcome({ method }: RpcRequest, answer: RawAnswer): Outcome {
  const { output } = methodOf(method);
  let head = headOf(answer);
  let message = create(output);
  for (let rest = answer.bytes; rest.length > 0; ) {
    const end = 5 + rest.readUInt32BE(1);
    const bytes = rest.subarray(5, end);
    if (rest.readUInt8() & 0x80) head = { ...head, ...trailersOf(bytes.toString()) };
    else message = fromBinary(output, bytes);
    rest = rest.subarray(end);
  }
  if (head["grpc-status"] === "0") return { answer: shown(output, message), head };
  const code = status[Number(head["grpc-status"])] ?? `${head["grpc-status"]}`;
  return { code, message: decodeURIComponent(head["grpc-message"] ?? ""), head };
}

function trailersOf(block: string): Head {
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

function jsonOf(question: RpcRequest): string {
  return toJsonString(methodOf(question.method).input, requestOf(question));
}

function headOf({ headers }: RawAnswer): Head {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`]));
}
