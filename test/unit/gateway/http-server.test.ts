/** Requests that are wrong as HTTP, before anything looks at what they ask for. */
import { STATUS_CODES } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { exchange, lastRequest, openGateway, parse, type TestGateway } from "./gateway.ts";

const GET = "GET /api/provider/revenue";
const REQUEST = `${GET} HTTP/1.1\r\nHost: a\r\n`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openGateway(RevenueService, () => new Promise<never>(() => {}));
});
afterAll(() => gateway.stop(0));

const METHODS = "allowed methods: GET, HEAD";
const HOST = "expected one valid Host header";
const paths = ["", "/servers", "/daily", "/payouts", "/charges"].map(
  (path) => `/api/provider/revenue${path}`,
);

test.each<[status: number, message: string, request: string]>([
  [400, HOST, `${GET} HTTP/1.1\r\nConnection: close\r\n\r\n`],
  // Also if they are the same.
  [400, HOST, lastRequest(GET, "Host: a")],
  ...["", "[::1"].map((host): [number, string, string] => [
    400,
    HOST,
    `${GET} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  ]),
  [400, "the path is not percent-encoded UTF-8 (RFC 3986)", lastRequest("GET /%zz")],
  [
    404,
    `no resource at this path; the paths are ${paths.join(", ")}, /revenue.v1.RevenueService/{method}`,
    lastRequest("OPTIONS *"),
  ],
  [405, METHODS, lastRequest("POST http://a/api/provider/revenue?a")],
])("%i, %s: in JSON, with the common headers, and logged", async (status, message, request) => {
  const raw = await exchange(gateway.port, request);
  const response = parse(raw);
  expect(response.status).toBe(status);
  expect(raw).toMatch(/^date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r$/im);
  expect(JSON.parse(response.body)).toEqual({ error: STATUS_CODES[status], message });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": `${Buffer.byteLength(response.body)}`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    connection: "close",
  });
  const requestId = response.headers.get("x-request-id");
  const fields = { requestId, status, reason: undefined };
  expect(gateway.lines.at(-1)).toEqual({ message: "request rejected", fields });
});

const TWO_LENGTHS = "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
const BROKEN_BODY = `POST /revenue.v1.RevenueService/GetOverview HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;

test.each<[status: number, name: string, request: string]>([
  [400, "garbage", "garbage\r\n\r\n"],
  [400, "TLS", "\x16\x03\x01\x02\x00\x01"],
  [400, "two lengths", `${REQUEST}${TWO_LENGTHS}`],
  [400, "a broken body", BROKEN_BODY],
  [431, "headers of 17 KB", `${REQUEST}Authorization: ${"a".repeat(17_000)}\r\n\r\n`],
])("%i for %s, which is no HTTP: in JSON, and logged with the parser's code", async (...row) => {
  const [status, , request] = row;
  const response = parse(await exchange(gateway.port, request));
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(JSON.parse(response.body)).toMatchObject({ error: STATUS_CODES[status] });
  const fields = { status, reason: expect.stringMatching(/^HPE_[A-Z_]+$/) };
  expect(gateway.lines.at(-1)).toMatchObject({ message: "request rejected", fields });
});

test("an expectation that is unknown is ignored, and CONNECT closes the connection", async () => {
  const request = lastRequest("GET /nothing", "Expect: wonders");
  expect(parse(await exchange(gateway.port, request)).status).toBe(404);
  const tunnel = exchange(gateway.port, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect(tunnel.catch(() => "")).resolves.toBe("");
});

test("names, addresses and ports are hosts, and HTTP/1.0 needs none", async () => {
  const hosts = ["a.b-c_d:8080", "127.0.0.1", "[::1]:80", "a:"];
  const requests = hosts.map((host) => `GET /nothing HTTP/1.1\r\nHost: ${host}\r\n`);
  for (const request of [...requests, "GET /nothing HTTP/1.0\r\n"]) {
    const raw = await exchange(gateway.port, `${request}Connection: close\r\n\r\n`);
    expect(parse(raw).status, request).toBe(404);
  }
});
