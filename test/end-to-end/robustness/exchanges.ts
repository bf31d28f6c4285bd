/** Valid exchanges, with one request or with several at once, in the parts that make them up. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  frame,
  grpcMessage,
  headers,
  PREFACE,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";

/** A key of provider 1. It is the same in every run, and so are the bytes of the exchanges. */
export const KEY = "rvk_NKu0CLHut48hhPlB7dZbMXCf3bpJq71lz2gICEcFE5L0kEJLV";
/** A well-formed key that is not in the database. */
const UNKNOWN_KEY = "rvk_qA7uCwG2rQ39Jb1UdAHmCirUrTv8KBhr94Q11eLYB261ljDqh";

/** Which port. */
export type Protocol = "http" | "grpc";

/** What a client sends on one connection, and the response. */
export interface Exchange {
  readonly name: string;
  readonly protocol: Protocol;
  /** The lines of HTTP/1.1, those of a body too; the frames of HTTP/2. */
  readonly parts: readonly Buffer[];
  /** Texts that the response contains, in order (as latin1). */
  readonly response: readonly string[];
}

const SERVICE = "revenue.v1.RevenueService";
/** The path of GetOverview over gRPC and Connect. */
export const OVERVIEW = `/${SERVICE}/GetOverview`;
const BREAKDOWN = `/${SERVICE}/GetServerBreakdown`;
const DATES = '{"startDate":"2024-03-01","endDate":"2024-03-31"}';

/** A message with texts by the number of their field. */
export function textFields(fields: Readonly<Record<number, string>>): Uint8Array {
  const writer = new BinaryWriter();
  for (const [field, text] of Object.entries(fields)) {
    writer.tag(Number(field), WireType.LengthDelimited).string(text);
  }
  return writer.finish();
}

/** The same dates as a GetServerBreakdownRequest. */
const DATES_PROTO = textFields({ 1: "2024-03-01", 2: "2024-03-31" });
const QUERY = new URLSearchParams({ connect: "v1", encoding: "json", message: DATES });

/** A request with its Host and Content-Length headers added. */
export function request(line: string, headers: readonly string[] = [], body?: Buffer) {
  const chunked = headers.some((header) => header.startsWith("Transfer-Encoding"));
  const length = body && !chunked ? [`Content-Length: ${body.length}`] : [];
  const head = [`${line} HTTP/1.1`, "Host: revenue", ...headers, ...length, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), body ?? Buffer.alloc(0)]);
}

/** The messages of a breakdown in each protocol of the HTTP port, with their types. */
export const BODIES = [
  ["application/json", Buffer.from(DATES)],
  ["application/proto", Buffer.from(DATES_PROTO)],
  ["application/grpc-web+proto", grpcMessage(DATES_PROTO)],
] as const;

/** A POST that asks for the breakdown, with any body. */
export function post(type: string, body: Buffer): Buffer {
  return request(`POST ${BREAKDOWN}`, [`Content-Type: ${type}`, `X-API-Key: ${KEY}`], body);
}

const REST = "GET /api/provider/revenue";
const [connectJson, connectProto, grpcWeb] = BODIES.map(([type, body]) => post(type, body)) as [
  Buffer,
  Buffer,
  Buffer,
];

/** The single requests over HTTP/1.1. */
export const REQUESTS = {
  overview: request(REST, [`X-API-Key: ${KEY}`]),
  unknownKey: request(REST, [`X-API-Key: ${UNKNOWN_KEY}`]),
  connectJson,
  connectProto,
  connectGet: request(`GET ${BREAKDOWN}?${QUERY}`, [`X-API-Key: ${KEY}`]),
  grpcWeb,
  chunked: request(
    `POST ${BREAKDOWN}`,
    ["Content-Type: application/json", "Transfer-Encoding: chunked", `X-API-Key: ${KEY}`],
    Buffer.from(`${DATES.length.toString(16)}\r\n${DATES}\r\n0\r\n\r\n`),
  ),
  unknownExpectation: request(REST, ["Expect: foo", `X-API-Key: ${KEY}`]),
  upgrade: request(REST, ["Connection: upgrade", "Upgrade: h2c"]),
  connectMethod: Buffer.from("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
  malformed: Buffer.from("not a request\r\n\r\n"),
} as const satisfies Record<string, Buffer>;

const latin1 = (bytes: Buffer) => bytes.toString("latin1");
const http = (name: string, requests: readonly Buffer[], ...response: string[]): Exchange => ({
  name,
  protocol: "http",
  parts: latin1(Buffer.concat(requests))
    .split(/(?<=\r\n)/)
    .map((line) => Buffer.from(line, "latin1")),
  response,
});

/** The frames of a gRPC call on a stream. */
export const call = (id: number, path: string, message: Uint8Array, key?: string) => [
  headers(id, false, path, key),
  frame(0, 1, id, grpcMessage(message)),
];
const grpc = (name: string, frames: readonly Buffer[], ...response: string[]): Exchange => ({
  name,
  protocol: "grpc",
  parts: [PREFACE, SETTINGS, SETTINGS_ACK, ...frames],
  response,
});

const OK = "HTTP/1.1 200";
const { overview, unknownKey, connectGet, connectMethod, unknownExpectation, malformed } = REQUESTS;
const HEALTH = textFields({ 1: SERVICE });
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** HealthCheckResponse, SERVING. */
const SERVING = "\x08\x01";

/** All of them. Of several requests over HTTP/1.1 in one write, the first is answered. */
export const EXCHANGES: readonly Exchange[] = [
  http("a REST call", [overview], OK, '"totalEarningsYTD"'),
  http("a REST call with an unknown key", [unknownKey], "HTTP/1.1 401"),
  http("a Connect POST", [connectJson], OK, '"totalServers"'),
  http("a chunked Connect POST", [REQUESTS.chunked], OK, '"totalServers"'),
  http("a Connect POST in binary", [connectProto], OK, "alpha"),
  http("a Connect GET", [connectGet], OK, '"totalServers"'),
  http("a gRPC-Web call", [grpcWeb], OK, "alpha", "grpc-status: 0"),
  http("an upgrade", [REQUESTS.upgrade], "HTTP/1.1"),
  http("a Connect POST before a gRPC-Web call", [connectJson, grpcWeb], OK, '"totalServers"'),
  http("an unknown expectation before a Connect GET", [unknownExpectation, connectGet], OK),
  http("CONNECT", [connectMethod]),
  http("a REST call before CONNECT", [overview, connectMethod]),
  http("a malformed request", [malformed], " 400"),
  http("a REST call before a malformed request", [overview, malformed], " 400"),
  grpc(
    "two gRPC calls at once",
    [...call(1, OVERVIEW, Buffer.alloc(0), KEY), ...call(3, BREAKDOWN, DATES_PROTO, KEY)],
    ...["alpha", "alpha"],
  ),
  grpc("a health watch", call(1, "/grpc.health.v1.Health/Watch", HEALTH), SERVING),
  grpc("a reflection call", call(1, REFLECTION, textFields({ 4: SERVICE })), SERVICE),
];

/** Calls of every kind of method on the gRPC port: their paths and messages. */
export const GRPC_CALLS: readonly (readonly [path: string, message: Uint8Array])[] = [
  [OVERVIEW, Buffer.alloc(0)],
  [BREAKDOWN, DATES_PROTO],
  ["/grpc.health.v1.Health/Check", HEALTH],
  ["/grpc.health.v1.Health/Watch", HEALTH],
  [REFLECTION, textFields({ 4: SERVICE })],
  [REFLECTION.replace("v1", "v1alpha"), textFields({ 7: "*" })],
];
