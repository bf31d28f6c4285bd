import { gzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import {
  type GetOverviewResponse,
  GetOverviewResponseSchema,
  RevenueService,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { IncomingCall } from "../../../src/rpc/call.ts";
import { type Call, exchange, listen, parse } from "./gateway.ts";

const overview: GetOverviewResponse = create(GetOverviewResponseSchema, {
  summary: { availableBalance: { value: "4500.00" } },
});
const answerOverview = (call: Call) => {
  call.request();
  return overview;
};

/** Accepts the key "k" alone. */
const authenticate = ({ credentials }: IncomingCall) => {
  if (credentials.xApiKey[0] !== "k") throw new ServiceError("unauthenticated");
};

const transports: [string, "connect" | "grpc-web", (baseUrl: string) => Transport][] = [
  ["Connect", "connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  [
    "Connect over GET, in JSON",
    "connect",
    (baseUrl) =>
      createConnectTransport({
        baseUrl,
        httpVersion: "1.1",
        useHttpGet: true,
        useBinaryFormat: false,
      }),
  ],
  ["gRPC-Web", "grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
];

test.each(transports)("%s: a call is answered", async (_name, protocol, transport) => {
  const { url, calls } = await listen(RevenueService, answerOverview);
  const client = createClient(RevenueService, transport(url));
  let headers = new Headers();
  const before = Date.now();
  const response = await client.getOverview(
    {},
    {
      headers: { "x-api-key": "k", "x-request-id": "r-1" },
      timeoutMs: 5000,
      onHeader: (header) => {
        headers = header;
      },
    },
  );
  expect(response.summary?.availableBalance?.value).toBe("4500.00");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("x-request-id")).toBe("r-1");
  expect(calls).toMatchObject([
    { protocol, requestId: "r-1", credentials: { xApiKey: ["k"], authorization: [] } },
  ]);
  expect(calls[0]?.deadline).toBeGreaterThan(before + 4000);
  expect(calls[0]?.deadline).toBeLessThanOrEqual(Date.now() + 5000);
});

test.each(transports)("%s: without a timeout there is no deadline", async (...row) => {
  const [, , transport] = row;
  const { url, calls } = await listen(RevenueService, answerOverview);
  await createClient(RevenueService, transport(url)).getOverview({});
  expect(calls[0]?.deadline).toBe(Number.POSITIVE_INFINITY);
});

test.each(transports)(
  "%s: a failure has its code and its message, not its cause",
  async (...row) => {
    const [, , transport] = row;
    const { url } = await listen(RevenueService, () => {
      throw new ServiceError("overloaded", "later", { cause: new Error("password") });
    });
    const error = await createClient(RevenueService, transport(url))
      .getOverview({})
      .catch((thrown: unknown) => ConnectError.from(thrown));
    if (!(error instanceof ConnectError)) throw new Error("an error was expected");
    expect(error.code).toBe(Code.Unavailable);
    expect(error.rawMessage).toBe("later");
    expect(error.metadata.get("retry-after")).toBe("1");
    expect(error.details).toEqual([]);
  },
);

test.each(transports)("%s: an error that is no failure tells nothing", async (...row) => {
  const [, , transport] = row;
  const { url } = await listen(RevenueService, () => {
    throw new Error("password");
  });
  await expect(createClient(RevenueService, transport(url)).getOverview({})).rejects.toMatchObject({
    code: Code.Internal,
    rawMessage: "an error occurred while retrieving revenue data",
    details: [],
  });
});

test("a client that goes away aborts its call", async () => {
  const { url, calls } = await listen(RevenueService, () => new Promise(() => {}));
  const controller = new AbortController();
  const call = createClient(
    RevenueService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  ).getOverview({}, { signal: controller.signal });
  await expect.poll(() => calls.length).toBe(1);
  expect(calls[0]?.signal.aborted).toBe(false);
  controller.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
});

const PATH = "/revenue.v1.RevenueService/GetOverview";

/** A POST to GetOverview, byte by byte. */
function post(headers: string, body: string | Uint8Array, key = "k"): (string | Uint8Array)[] {
  const length = Buffer.byteLength(body);
  return [
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n${headers}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`,
    body,
  ];
}

const JSON_BODY = "Content-Type: application/json";
const UNAUTHENTICATED =
  "API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)";

test.each([
  ["malformed JSON", JSON_BODY, "{x", 400, "invalid_argument"],
  [
    "malformed protobuf",
    "Content-Type: application/proto",
    "\u00ff\u00ff",
    400,
    "invalid_argument",
  ],
  ["an unknown compression", `${JSON_BODY}\r\nContent-Encoding: rot13`, "{}", 501, "unimplemented"],
  ["what is no gzip", `${JSON_BODY}\r\nContent-Encoding: gzip`, "{}", 400, "invalid_argument"],
  [
    "a malformed timeout",
    `${JSON_BODY}\r\nConnect-Timeout-Ms: soon`,
    "{}",
    400,
    "invalid_argument",
  ],
  ["a large message", JSON_BODY, `{"a":"${"x".repeat(65_536)}"}`, 429, "resource_exhausted"],
  [
    "a small bomb",
    `${JSON_BODY}\r\nContent-Encoding: gzip`,
    gzipSync("x".repeat(1_000_000)),
    429,
    "resource_exhausted",
  ],
])("%s is refused; with a bad key, as a bad key", async (_name, headers, body, status, code) => {
  const { port, calls, rejected } = await listen(RevenueService, answerOverview, authenticate);
  const refused = parse(await exchange(port, ...post(headers, body)));
  expect(refused.status).toBe(status);
  expect(JSON.parse(refused.body)).toMatchObject({ code });
  const stranger = parse(await exchange(port, ...post(headers, body, "bad")));
  expect(stranger.status).toBe(401);
  expect(stranger.headers.get("www-authenticate")).toBe("Bearer");
  expect(stranger.headers.get("cache-control")).toBe("no-store");
  expect(JSON.parse(stranger.body)).toEqual({ code: "unauthenticated", message: UNAUTHENTICATED });
  expect(calls).toEqual([]);
  expect(rejected[0]?.kind).toBe("invalidArgument");
});

test("a malformed message of gRPC-Web with a bad key is a bad key", async () => {
  const { port, calls } = await listen(RevenueService, answerOverview, authenticate);
  const raw = await exchange(
    port,
    ...post("Content-Type: application/grpc-web+proto", "xx", "bad"),
  );
  expect(raw).toContain("grpc-status: 16\r\n");
  expect(calls).toEqual([]);
});

test.each([
  ["connect-timeout-ms: 9999999999", "application/json", "{}"],
  ["grpc-timeout: 99999999H", "application/grpc-web+proto", "\0\0\0\0\0"],
])("a timeout that no timer holds is none: %s", async (timeout, type, body) => {
  const warnings: Error[] = [];
  const collect = (warning: Error) => warnings.push(warning);
  process.on("warning", collect);
  const { port, calls } = await listen(RevenueService, answerOverview);
  await exchange(port, ...post(`Content-Type: ${type}\r\n${timeout}`, body));
  process.off("warning", collect);
  expect(calls[0]?.deadline).toBe(Number.POSITIVE_INFINITY);
  expect(warnings).toEqual([]);
});

test.each([
  [
    "an odd content type",
    post("Content-Type: text/xml", "<a/>"),
    415,
    "this path does not take this content type",
  ],
  [
    "a content type that is none",
    post("Content-Type: ;;", "{}"),
    415,
    "this path does not take this content type",
  ],
  [
    "gRPC, which has its own port",
    post("Content-Type: application/grpc", ""),
    415,
    "this path does not take this content type",
  ],
  [
    "a host that is none",
    [
      `POST ${PATH} HTTP/1.1\r\nHost: a b\r\n${JSON_BODY}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    ],
    400,
    "the Host header names no host",
  ],
  [
    "another method",
    [`PUT ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
    405,
    "this path answers GET, POST",
  ],
  [
    "another procedure",
    ["POST /revenue.v1.RevenueService/Nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    404,
    "there is nothing at this path",
  ],
])("%s is refused in JSON and logged", async (_name, request, status, message) => {
  const { port, lines } = await listen(RevenueService, answerOverview);
  const answer = parse(await exchange(port, ...request));
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String), message });
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(lines).toMatchObject([{ message: "refused", fields: { status } }]);
});

test("a key that came twice reaches the Rpc twice", async () => {
  const { port, calls } = await listen(RevenueService, answerOverview);
  await exchange(port, ...post(`${JSON_BODY}\r\nAuthorization: 1\r\nAuthorization: 2`, "{}"));
  expect(calls[0]?.credentials).toEqual({ xApiKey: ["k"], authorization: ["1", "2"] });
});
