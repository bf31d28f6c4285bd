/** Valid HTTP/1.1 exchanges as bytes, with one request or with several pipelined. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { frame } from "../../../support/clients/raw-clients.ts";
import { KEY, UNKNOWN_KEY } from "./target.ts";

/** What a client sends on one connection, and the response. */
export interface Exchange {
  readonly name: string;
  readonly protocol: "http" | "grpc";
  readonly bytes: Buffer;
  /** Texts that the response contains, in order (as latin1). */
  readonly response: readonly string[];
}

const BREAKDOWN = "/revenue.v1.RevenueService/GetServerBreakdown";
const DATES = '{"startDate":"2024-03-01","endDate":"2024-03-31"}';
/** The same dates as a GetServerBreakdownRequest. */
const DATES_PROTO = new BinaryWriter()
  .tag(1, WireType.LengthDelimited)
  .string("2024-03-01")
  .tag(2, WireType.LengthDelimited)
  .string("2024-03-31")
  .finish();
const QUERY = new URLSearchParams({ connect: "v1", encoding: "json", message: DATES });

const OK = "HTTP/1.1 200";
const UNAUTHORIZED = "HTTP/1.1 401";

/** A request with its Host and Content-Length headers added. */
export function request(
  line: string,
  headers: readonly string[] = [],
  body: Buffer = Buffer.alloc(0),
) {
  const chunked = headers.some((header) => header.startsWith("Transfer-Encoding"));
  const length = body.length > 0 && !chunked ? [`Content-Length: ${body.length}`] : [];
  const head = [`${line} HTTP/1.1`, "Host: revenue", ...headers, ...length, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

const withKey = (key: string) => [`X-API-Key: ${key}`];
const post = (type: string, body: Uint8Array | string) =>
  request(`POST ${BREAKDOWN}`, [`Content-Type: ${type}`, ...withKey(KEY)], Buffer.from(body));

/** The single requests. */
export const REQUESTS = {
  overview: request("GET /api/provider/revenue", withKey(KEY)),
  bearer: request("GET /api/provider/revenue", [`Authorization: Bearer ${KEY}`]),
  unknownKey: request("GET /api/provider/revenue", withKey(UNKNOWN_KEY)),
  noKey: request("GET /api/provider/revenue"),
  breakdown: request(
    "GET /api/provider/revenue/servers?startDate=2024-03-01&endDate=2024-03-31",
    withKey(KEY),
  ),
  head: request("HEAD /api/provider/revenue", withKey(KEY)),
  connectJson: post("application/json", DATES),
  connectProto: post("application/proto", DATES_PROTO),
  connectGet: request(`GET ${BREAKDOWN}?${QUERY}`, withKey(KEY)),
  grpcWeb: post("application/grpc-web+proto", frame(DATES_PROTO)),
  chunked: request(
    `POST ${BREAKDOWN}`,
    ["Content-Type: application/json", "Transfer-Encoding: chunked", ...withKey(KEY)],
    Buffer.from(`${DATES.length.toString(16)}\r\n${DATES}\r\n0\r\n\r\n`),
  ),
  unmetExpectation: request("GET /api/provider/revenue", ["Expect: foo", ...withKey(KEY)]),
  connectMethod: Buffer.from("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
  malformed: Buffer.from("not a request\r\n\r\n"),
} as const satisfies Record<string, Buffer>;

const single = (name: string, bytes: Buffer, ...response: string[]): Exchange => ({
  name,
  protocol: "http",
  bytes,
  response,
});

/** One request on a connection. */
export const SINGLE_EXCHANGES: readonly Exchange[] = [
  single("REST overview", REQUESTS.overview, OK, '"totalEarningsYTD"'),
  single("REST overview, bearer key", REQUESTS.bearer, OK, '"totalEarningsYTD"'),
  single("REST, unknown key", REQUESTS.unknownKey, UNAUTHORIZED),
  single("REST, no key", REQUESTS.noKey, UNAUTHORIZED),
  single("REST breakdown", REQUESTS.breakdown, OK, '"totalServers"'),
  single("REST HEAD", REQUESTS.head, OK),
  single("Connect POST, JSON", REQUESTS.connectJson, OK, '"totalServers"'),
  single("Connect POST, proto", REQUESTS.connectProto, OK, "alpha"),
  single("Connect GET", REQUESTS.connectGet, OK, '"totalServers"'),
  single("gRPC-Web POST", REQUESTS.grpcWeb, OK, "alpha", "grpc-status: 0"),
  single("chunked POST", REQUESTS.chunked, OK, '"totalServers"'),
];

const pipelined = (name: string, bytes: readonly Buffer[], ...response: string[]): Exchange => ({
  name: `pipelined: ${name}`,
  protocol: "http",
  bytes: Buffer.concat(bytes),
  response,
});

/** Several requests in one write, of which the first is answered. */
export const PIPELINED_EXCHANGES: readonly Exchange[] = [
  pipelined("REST, Connect GET", [REQUESTS.overview, REQUESTS.connectGet], OK),
  pipelined("unknown key, Connect GET", [REQUESTS.unknownKey, REQUESTS.connectGet], UNAUTHORIZED),
  pipelined(
    "Connect POST, REST, gRPC-Web",
    [REQUESTS.connectJson, REQUESTS.noKey, REQUESTS.grpcWeb],
    ...[OK, '"totalServers"'],
  ),
  pipelined(
    "unmet expectation, Connect GET",
    [REQUESTS.unmetExpectation, REQUESTS.connectGet],
    "HTTP/1.1 417",
  ),
  pipelined("REST, CONNECT", [REQUESTS.overview, REQUESTS.connectMethod], OK),
  pipelined("REST, malformed", [REQUESTS.overview, REQUESTS.malformed], OK),
  pipelined("CONNECT, more bytes", [REQUESTS.connectMethod, REQUESTS.overview], "HTTP/1.1 405"),
];
