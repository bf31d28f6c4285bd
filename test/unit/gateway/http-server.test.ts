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
    "a request of HTTP/1.1 needs a Host header",
  ],
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
    "there is nothing at this path",
  ],
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405, "this path answers GET, HEAD"],
  [
    "an expectation",
    `${REQUEST}Expect: wonders\r\nConnection: close\r\n\r\n`,
    417,
    "this expectation cannot be met",
  ],
  [
    "a long path",
    `GET /${"a".repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    431,
    "the request's headers are too large",
  ],
  [
    "a long header",
    `${REQUEST}Authorization: ${"a".repeat(17_000)}\r\n\r\n`,
    431,
    "the request's headers are too large",
  ],
])("%s is answered in JSON, with the headers of every answer, and logged", async (...row) => {
  const [, request, status, message] = row;
  const { port, lines } = await listen(RevenueService, never);
  const answer = parse(await exchange(port, Buffer.from(request, "latin1")));
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String), message });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": `${Buffer.byteLength(answer.body)}`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    connection: "close",
  });
  expect(lines).toEqual([
    {
      message: "refused",
      fields: {
        requestId: answer.headers.get("x-request-id"),
        protocol: "rest",
        status,
      },
    },
  ]);
});

test("a request that does not arrive in time is a 408", async () => {
  const { app, port } = await listen(RevenueService, never);
  app.server.headersTimeout = 50;
  const answer = parse(await exchange(port, "GET /api/provider"));
  expect(answer.status).toBe(408);
  expect(answer.body).toBe(
    '{"error":"Request Timeout","message":"the request took too long to arrive"}',
  );
});

test("HTTP/1.0 without a host is answered", async () => {
  const { port } = await listen(RevenueService, never);
  expect(parse(await exchange(port, "GET /nothing HTTP/1.0\r\n\r\n")).status).toBe(404);
});

test("a malformed request behind one that is being answered is refused after that answer", async () => {
  const released = Promise.withResolvers<void>();
  const { port, calls } = await listen(RevenueService, async () => {
    await released.promise;
    return create(GetOverviewResponseSchema);
  });
  const answers = exchange(port, `${REQUEST}\r\n`, "garbage\r\n\r\n");
  await expect.poll(() => calls).toHaveLength(1);
  released.resolve();
  const raw = await answers;
  expect([...raw.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
    "200",
    "400",
  ]);
  expect(raw).toMatch(/connection: close\r\n/);
});
