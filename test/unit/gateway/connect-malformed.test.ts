import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { IncomingCall } from "../../../src/rpc/call.ts";
import { exchange, listen, parse } from "./gateway.ts";
import { handleOverview, JSON_BODY, PATH, post } from "./overview.ts";

/** Accepts the key "k" only. */
const authenticate = ({ credentials }: IncomingCall) => {
  if (credentials.xApiKey[0] !== "k") throw new ServiceError("unauthenticated");
};

const CODES: Readonly<Record<string, Code>> = {
  invalid_argument: Code.InvalidArgument,
  resource_exhausted: Code.ResourceExhausted,
  unimplemented: Code.Unimplemented,
};

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
  ["malformed gzip", `${JSON_BODY}\r\nContent-Encoding: gzip`, "{}", 400, "invalid_argument"],
  [
    "a malformed timeout",
    `${JSON_BODY}\r\nConnect-Timeout-Ms: soon`,
    "{}",
    400,
    "invalid_argument",
  ],
  ["a large message", JSON_BODY, `{"a":"${"x".repeat(65_536)}"}`, 413, "resource_exhausted"],
  [
    "a small bomb",
    `${JSON_BODY}\r\nContent-Encoding: gzip`,
    gzipSync("x".repeat(1_000_000)),
    413,
    "resource_exhausted",
  ],
])("%s is rejected; with a bad key, the bad key is", async (_name, headers, body, status, code) => {
  const { port, calls, rejected } = await listen(RevenueService, handleOverview, authenticate);
  const response = parse(await exchange(port, ...post(headers, body)));
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body)).toMatchObject({ code });
  const bad = parse(await exchange(port, ...post(headers, body, "bad")));
  expect(bad.status).toBe(401);
  expect(bad.headers.get("www-authenticate")).toBe("Bearer");
  expect(bad.headers.get("cache-control")).toBe("no-store");
  expect(JSON.parse(bad.body)).toEqual({ code: "unauthenticated", message: UNAUTHENTICATED });
  expect(calls).toEqual([]);
  expect(rejected).toHaveLength(1);
  expect(rejected[0]?.entry.code, "the code in the log").toBe(CODES[code]);
});

test("a malformed gRPC-Web message with a bad key is a bad key", async () => {
  const { port, calls } = await listen(RevenueService, handleOverview, authenticate);
  const raw = await exchange(
    port,
    ...post("Content-Type: application/grpc-web+proto", "xx", "bad"),
  );
  expect(raw).toContain("grpc-status: 16\r\n");
  expect(calls).toEqual([]);
});

/** A gRPC-Web or Connect envelope: flags, length, message. */
function envelope(message: Uint8Array | string, flags = 0, length = Buffer.byteLength(message)) {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(message)]);
}

const GARBAGE = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x07]);
const COMPRESSED = 1;

const MALFORMED: [string, Uint8Array][] = [
  ["nothing", Buffer.alloc(0)],
  ["garbage", GARBAGE],
  ["half an envelope's head", Buffer.from([0, 0, 0])],
  ["an envelope of garbage", envelope(GARBAGE)],
  ["an envelope that is too short", envelope("x", 0, 10)],
  ["an envelope that is too long", envelope("", 0, 2 ** 32 - 1)],
  ["a compressed envelope of garbage", envelope(GARBAGE, COMPRESSED)],
  ["an empty compressed envelope", envelope("", COMPRESSED)],
  ["truncated gzip", envelope(gzipSync("x".repeat(100)).subarray(0, 20), COMPRESSED)],
  ["gzip of garbage", envelope(gzipSync(GARBAGE), COMPRESSED)],
  ["a bare truncated gzip", gzipSync("x".repeat(100)).subarray(0, 20)],
  ["a bare gzip of garbage", gzipSync(GARBAGE)],
  ["an envelope with unknown flags", envelope(GARBAGE, 0x7e)],
  ["trailers instead of a message", envelope("a: b", 0x80)],
  ["two envelopes", Buffer.concat([envelope(""), envelope("")])],
  ["an envelope and garbage", Buffer.concat([envelope(""), GARBAGE])],
  ["an empty array", Buffer.from("[]")],
  ["JSON with an unknown field", Buffer.from('{"x":1}')],
  ["JSON that is not UTF-8", Buffer.from('{"\u00ff":1}', "latin1")],
];

const HEADERS: [protocol: string, headers: string][] = [
  "application/json",
  "application/proto",
  "application/grpc-web",
  "application/grpc-web+json",
].flatMap((type) => {
  const grpcWeb = type.includes("grpc-web");
  const encoding = grpcWeb ? "Grpc-Encoding" : "Content-Encoding";
  const timeouts = grpcWeb
    ? ["", "\r\nGrpc-Timeout: 0n", "\r\nGrpc-Timeout: x"]
    : ["", "\r\nConnect-Timeout-Ms: 0", "\r\nConnect-Timeout-Ms: x"];
  const encodings = [
    "",
    ...["gzip", "br", "identity", "rot13"].map((e) => `\r\n${encoding}: ${e}`),
  ];
  return timeouts.flatMap((timeout) =>
    encodings.map((e): [string, string] => [
      grpcWeb ? "grpc-web" : "connect",
      `Content-Type: ${type}${timeout}${e}`,
    ]),
  );
});

// Fails if Connect-ES no longer aborts the context with the error before it serializes it: then
// protobuf that cannot be parsed is INTERNAL (see src/gateway/connect/error.ts).
test.each(MALFORMED)("%s is never an internal error, and ends its call once", async (...row) => {
  const [, body] = row;
  const { port, calls, rejected } = await listen(RevenueService, handleOverview);
  for (const [index, [protocol, headers]] of HEADERS.entries()) {
    const raw = await exchange(port, ...post(headers, body));
    if (protocol === "connect") expect(raw, headers).toMatch(/^HTTP\/1\.1 (200|4\d\d|501) /);
    else expect(raw, headers).toMatch(/grpc-status: (0|3|8|12)\r\n/);
    expect(raw, headers).not.toMatch(/parse binary|internal|readMaxBytes/i);
    expect(calls.length + rejected.length, headers).toBe(index + 1);
  }
});

test.each(["!", "a", "%ff"])("a GET with the base64 %j is an invalid argument", async (message) => {
  const { url, calls, rejected } = await listen(RevenueService, handleOverview);
  const query = `connect=v1&encoding=proto&base64=1&message=${message}`;
  const response = await fetch(`${url}${PATH}?${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    code: "invalid_argument",
    message: "the message cannot be decoded",
  });
  expect(calls).toEqual([]);
  expect(rejected).toMatchObject([{ kind: "invalidArgument" }]);
});

test.each(["", "CgA", "CgA=", "CgL7_w", "CgL7%2Fw%3D%3D"])(
  "a GET may have the base64 %j",
  async (message) => {
    const { url } = await listen(RevenueService, handleOverview);
    const query = `connect=v1&encoding=proto&base64=1&message=${message}`;
    expect((await fetch(`${url}${PATH}?${query}`)).status).toBe(200);
  },
);
