import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { exchange, listen, parse } from "./gateway.ts";

const REQUEST = "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n";
const never = () => new Promise<never>(() => {});

test.each([
  ["no HTTP at all", "garbage\r\n\r\n", 400, "the request is not valid HTTP"],
  ["an unknown method", "GARB / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the request is not valid HTTP"],
  ["a TLS greeting", "\u0016\u0003\u0001\u0002\u0000\u0001", 400, "the request is not valid HTTP"],
  ["a space in a header's name", `${REQUEST}a b: c\r\n\r\n`, 400, "the request is not valid HTTP"],
  [
    "bytes in the path",
    "GET /\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n",
    400,
    "the request is not valid HTTP",
  ],
  [
    "both framings of a body",
    `${REQUEST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    "the request is not valid HTTP",
  ],
  [
    "a chunk of no size",
    `${REQUEST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    400,
    "the request is not valid HTTP",
  ],
  [
    "HTTP/1.1 without a host",
    "GET /api/provider/revenue HTTP/1.1\r\nConnection: close\r\n\r\n",
    400,
    "missing Host header",
  ],
  [
    "two hosts, also if they are the same",
    `${REQUEST}Host: a\r\nConnection: close\r\n\r\n`,
    400,
    "repeated Host header",
  ],
  [
    "two hosts over HTTP/1.0",
    "GET /nothing HTTP/1.0\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
    400,
    "repeated Host header",
  ],
  ...["", "a b", "a/b", "user@a", "a?b", "a:b", "[::1", "a,b\u00e9", "%zz"].map(
    (host): [string, string, number, string] => [
      `the host ${JSON.stringify(host)}`,
      `GET /api/provider/revenue HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      400,
      "invalid Host header",
    ],
  ),
  [
    "a path that is not percent-encoded",
    "GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    400,
    "the path is not percent-encoded UTF-8 (RFC 3986)",
  ],
  [
    "an asterisk",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    404,
    "no resource at this path",
  ],
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405, "allowed methods: GET, HEAD"],
  [
    "an expectation",
    `${REQUEST}Expect: wonders\r\nConnection: close\r\n\r\n`,
    417,
    "unsupported expectation",
  ],
  [
    "a long path",
    `GET /${"a".repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    431,
    "the request headers are too large",
  ],
  [
    "a long header",
    `${REQUEST}Authorization: ${"a".repeat(17_000)}\r\n\r\n`,
    431,
    "the request headers are too large",
  ],
])("%s is rejected in JSON, with the common headers, and logged", async (...row) => {
  const [, request, status, message] = row;
  const { port, lines } = await listen(RevenueService, never);
  const response = parse(await exchange(port, Buffer.from(request, "latin1")));
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body)).toEqual({ error: expect.any(String), message });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": `${Buffer.byteLength(response.body)}`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    connection: "close",
  });
  expect(lines).toEqual([
    {
      message: "request rejected",
      fields: {
        requestId: response.headers.get("x-request-id"),
        protocol: "rest",
        status,
        reason: reasonOf(message),
      },
    },
  ]);
});

/** The logged reason: Node's code if it could not parse the request, or what the host lacks. */
function reasonOf(message: string): unknown {
  if (message.endsWith("Host header")) return message;
  const isUnparsed = /not valid HTTP|headers are too large/.test(message);
  return isUnparsed ? expect.stringMatching(/^HPE_[A-Z_]+$/) : undefined;
}

test.each(["a", "a.b-c_d.1:8080", "127.0.0.1", "[::1]:80", "a:", "a%20b"])(
  "%s is a host",
  async (host) => {
    const { port } = await listen(RevenueService, never);
    const request = `GET /nothing HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(parse(await exchange(port, request)).status).toBe(404);
  },
);

test("HTTP/1.0 needs no Host header", async () => {
  const { port } = await listen(RevenueService, never);
  expect(parse(await exchange(port, "GET /nothing HTTP/1.0\r\n\r\n")).status).toBe(404);
});

const LONG = "a".repeat(17_000);

test.each([
  ["an expectation", "HEAD / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n", [417]],
  [
    "a long header after another request",
    `HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\nA: ${LONG}\r\n\r\n`,
    [404],
  ],
])("a HEAD request with %s is answered without a body", async (_name, requests, statuses) => {
  const { port } = await listen(RevenueService, never);
  const raw = await exchange(port, requests);
  const responses = raw.split("\r\n\r\n");
  expect(responses.pop()).toBe("");
  expect(responses.map((response) => parse(response).status)).toEqual(statuses);
});

test("a HEAD request whose body is malformed is rejected without a body", async () => {
  const { port, calls } = await listen(RevenueService, never);
  const head =
    "HEAD /api/provider/revenue HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const raw = await exchange(port, `${head}zz\r\n`);
  expect(calls).toHaveLength(1);
  expect(parse(raw)).toMatchObject({ status: 400, body: "" });
});

test("a GET request that is rejected after a HEAD request has a body", async () => {
  const { port } = await listen(RevenueService, never);
  const socket = connect(port, "127.0.0.1");
  socket.write("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(socket, "data");
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\nA: ${LONG}\r\n\r\n`);
  const rejected = parse(await text(socket));
  expect(rejected.status).toBe(431);
  expect(JSON.parse(rejected.body)).toMatchObject({ error: "Request Header Fields Too Large" });
});

test("what is malformed behind a request is not answered: the response to the request is the last", async () => {
  const released = Promise.withResolvers<void>();
  const { port, calls } = await listen(RevenueService, async () => {
    await released.promise;
    return create(GetOverviewResponseSchema);
  });
  const responses = exchange(port, `${REQUEST}\r\n`, "garbage\r\n\r\n");
  await expect.poll(() => calls).toHaveLength(1);
  released.resolve();
  const raw = await responses;
  expect(raw.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(["200"]);
  expect(raw).toMatch(/connection: close\r\n/);
});
