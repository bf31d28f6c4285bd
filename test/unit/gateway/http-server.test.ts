/** Requests that are wrong as HTTP, before anything looks at what they ask for. */
import { once } from "node:events";
import { STATUS_CODES } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { exchange, lastRequest, openGateway, parse, type TestGateway } from "./gateway.ts";

const GET = "GET /api/provider/revenue";
const REQUEST = `${GET} HTTP/1.1\r\nHost: a\r\n`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openGateway(RevenueService, () => new Promise<never>(() => {}));
});
afterAll(() => gateway.stop(0));

/** The logged reason: the code of Node's parser. */
const UNPARSED = expect.stringMatching(/^HPE_[A-Z_]+$/);
const NOT_HTTP = "the request is not valid HTTP";
const METHODS = "allowed methods: GET, HEAD";
const paths = ["", "/servers", "/daily", "/payouts", "/charges"].map(
  (path) => `/api/provider/revenue${path}`,
);

test.each<[status: number, message: string, request: string, reason?: string]>([
  [400, NOT_HTTP, "garbage\r\n\r\n", UNPARSED],
  // TLS to the port without it is told apart in the log.
  [400, NOT_HTTP, "\x16\x03\x01\x02\x00\x01", "tlsOnPlainPort"],
  [
    400,
    NOT_HTTP,
    `${REQUEST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    UNPARSED,
  ],
  [
    400,
    "missing Host header",
    `${GET} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    "missing Host header",
  ],
  // Also if they are the same.
  [400, "repeated Host header", lastRequest(GET, "Host: a"), "repeated Host header"],
  ...["", "user@a", "[::1"].map((host): [number, string, string, string] => [
    400,
    "invalid Host header",
    `${GET} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    "invalid Host header",
  ]),
  [400, "the path is not percent-encoded UTF-8 (RFC 3986)", lastRequest("GET /%zz")],
  [
    404,
    `no resource at this path; the paths are ${paths.join(", ")}, /revenue.v1.RevenueService/{method}`,
    lastRequest("OPTIONS *"),
  ],
  [405, METHODS, lastRequest("POST http://a/api/provider/revenue?a")],
  [405, METHODS, lastRequest("POST /api/provider/%72evenue")],
  [405, METHODS, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  [417, "unsupported expectation", lastRequest(GET, "Expect: wonders")],
  [
    431,
    "the request headers are too large",
    `${REQUEST}Authorization: ${"a".repeat(17_000)}\r\n\r\n`,
    UNPARSED,
  ],
])(
  "%i, %s: in JSON, with the common headers, and logged",
  async (status, message, request, reason) => {
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
    const fields = { requestId, status, reason };
    expect(gateway.lines.at(-1)).toEqual({ message: "request rejected", fields });
  },
);

test("a broken body behind an answered request, in one packet, is rejected at once", async () => {
  const broken = `POST /revenue.v1.RevenueService/GetOverview HTTP/1.1\r\nHost: a\r\n`;
  const raw = await exchange(
    gateway.port,
    `GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n${broken}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  );
  expect(raw.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 400"]);
  expect(gateway.lines.at(-1)).toMatchObject({ fields: { reason: "HPE_INVALID_CHUNK_SIZE" } });
});

test("a connection that was refused is closed a second later, and if its client closes it, leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const refuse = async () => {
    const client = connect({ port: gateway.port, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    const accepted = once(gateway.server, "connection");
    client.write("garbage\r\n\r\n");
    const [socket] = await accepted;
    await once(client.resume(), "end");
    return { client, socket };
  };
  const { socket } = await refuse();
  vi.advanceTimersByTime(999);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
  const closed = await refuse();
  await Promise.all([once(closed.socket, "close"), closed.client.end()]);
  expect(vi.getTimerCount()).toBe(0);
});

test("names, addresses and ports are hosts, and HTTP/1.0 needs none", async () => {
  const hosts = ["a.b-c_d.1:8080", "127.0.0.1", "[::1]:80", "a:", "a%20b"];
  const requests = hosts.map((host) => `GET /nothing HTTP/1.1\r\nHost: ${host}\r\n`);
  for (const request of [...requests, "GET /nothing HTTP/1.0\r\n"]) {
    const raw = await exchange(gateway.port, `${request}Connection: close\r\n\r\n`);
    expect(parse(raw).status, request).toBe(404);
  }
});
