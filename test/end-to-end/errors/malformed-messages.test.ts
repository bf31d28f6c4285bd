/** Messages that cannot be decoded: an error of the client, and UNAUTHENTICATED without a key. */
import { deflateSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GetServerBreakdownRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { connectOutcome, frame, grpcWebOutcome } from "../../support/clients/raw-clients.ts";
import { rawGrpc } from "../../support/clients/raw-grpc.ts";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { UNAUTHENTICATED } from "../../support/expected-error.ts";
import { type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const METHOD = "GetServerBreakdown";
const PATH = `/revenue.v1.RevenueService/${METHOD}`;
/** The largest request message, in bytes. */
const MAX_MESSAGE = 64 * 1024;

/** Makes a call with a key. Resolves to its code and its message. */
type Call = (key: string) => Promise<object>;
type Case = readonly [name: string, call: Call, code: string];

function post(body: Uint8Array | string, ...headers: RequestHeaders) {
  return (key: string): Promise<RawResponse> =>
    rawHttp(fixture.service.http, {
      method: "POST",
      target: PATH,
      headers: [...headers, ...withKey(key)],
      body,
    });
}

const connect =
  (type: string, body: Uint8Array | string): Call =>
  async (key) =>
    connectOutcome(await post(body, ["content-type", type])(key));

const connectGet =
  (query: string): Call =>
  async (key) =>
    connectOutcome(
      await rawHttp(fixture.service.http, { target: `${PATH}?${query}`, headers: withKey(key) }),
    );

const grpcWeb =
  (body: Uint8Array, ...headers: RequestHeaders): Call =>
  async (key) => {
    const send = post(body, ["content-type", "application/grpc-web+proto"], ...headers);
    return grpcWebOutcome({ method: METHOD }, await send(key));
  };

const grpc =
  (body: Uint8Array, ...headers: RequestHeaders): Call =>
  (key) =>
    rawGrpc(fixture.service.grpc, {
      path: PATH,
      headers: [["content-type", "application/grpc"], ...headers, ...withKey(key)],
      body,
    });

/** `start_date` with a length of 5 and one byte. */
const TRUNCATED = Buffer.from("0a05ab", "hex");
/** `start_date` with bytes that are not UTF-8. */
const NOT_UTF8 = Buffer.from("0a02c328", "hex");
const JSON_TYPE = "application/json";
const GZIP = ["grpc-encoding", "gzip"] as const;
const DEFLATE = ["grpc-encoding", "deflate"] as const;
/** A compressed message that breaks off. */
const BROKEN_GZIP = frame(gzipSync("0123456789").subarray(0, 20), 1);
const BROKEN_DEFLATE = frame(deflateSync("0123456789").subarray(0, 8), 1);

const UNDECODABLE: readonly (readonly [name: string, call: Call])[] = [
  ["Connect, JSON that breaks off", connect(JSON_TYPE, "{")],
  ["Connect, JSON of another type", connect(JSON_TYPE, '{"startDate":5}')],
  ["Connect, truncated", connect("application/proto", TRUNCATED)],
  ["Connect, not UTF-8", connect("application/proto", NOT_UTF8)],
  ["Connect GET, not JSON", connectGet("connect=v1&encoding=json&message=%7B")],
  ["Connect GET, not base64", connectGet("connect=v1&encoding=proto&base64=1&message=%25%25")],
  ["gRPC-Web, truncated", grpcWeb(frame(TRUNCATED))],
  ["gRPC-Web, not UTF-8", grpcWeb(frame(NOT_UTF8))],
  ["gRPC-Web, an incomplete message", grpcWeb(frame(TRUNCATED).subarray(0, 6))],
  ["gRPC, truncated", grpc(frame(TRUNCATED))],
  ["gRPC, not UTF-8", grpc(frame(NOT_UTF8))],
  ["gRPC, gzip that breaks off", grpc(BROKEN_GZIP, GZIP)],
  ["gRPC, deflate that breaks off", grpc(BROKEN_DEFLATE, DEFLATE)],
];

const LARGE = Buffer.alloc(10_000_000);
const TOO_LARGE: readonly (readonly [name: string, call: Call])[] = [
  ["Connect", connect(JSON_TYPE, JSON.stringify({ startDate: "x".repeat(MAX_MESSAGE) }))],
  ["gRPC-Web", grpcWeb(frame(Buffer.alloc(MAX_MESSAGE + 1)))],
  ["gRPC", grpc(frame(Buffer.alloc(MAX_MESSAGE + 1)))],
  ["gRPC, once it is decompressed from gzip", grpc(frame(gzipSync(LARGE), 1), GZIP)],
  ["gRPC, once it is decompressed from deflate", grpc(frame(deflateSync(LARGE), 1), DEFLATE)],
];

it.each<Case>([
  ...UNDECODABLE.map(([name, call]): Case => [name, call, "INVALID_ARGUMENT"]),
  ...TOO_LARGE.map(([name, call]): Case => [`${name}, too large`, call, "RESOURCE_EXHAUSTED"]),
])("%s: an error of the client", async (_, call, code) => {
  expect(await call(fixture.key)).toMatchObject({ code });
});

it.each(UNDECODABLE)("%s: without a valid key it is UNAUTHENTICATED", async (_, call) => {
  const { code, message } = UNAUTHENTICATED;
  expect(await call("invalid")).toMatchObject({ code, message });
});

it.each([
  ["gzip", gzipSync, GZIP],
  ["deflate", deflateSync, DEFLATE],
] as const)("gRPC, %s: a compressed message is read, and one that is not", async (...row) => {
  const [, compress, encoding] = row;
  const schema = GetServerBreakdownRequestSchema;
  const message = toBinary(schema, create(schema, { endDate: "x".repeat(50) }));
  for (const body of [frame(compress(message), 1), frame(message)]) {
    expect(await grpc(body, encoding)(fixture.key)).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(/^endDate: .*got "x+/),
    });
  }
});

it.each([
  ["malformed", [["content-type", JSON_TYPE]], "{", 400, "INVALID_ARGUMENT"],
  [
    "of an unknown compression",
    [
      ["content-type", JSON_TYPE],
      ["content-encoding", "rot13"],
    ],
    "{}",
    501,
    "UNIMPLEMENTED",
  ],
] as const)(
  "a Connect message that is %s is logged with the code of its response",
  async (...row) => {
    const [name, types, body, status, code] = row;
    const id = `logged-${name.replaceAll(" ", "-")}`;
    const response = await post(body, ...types, ["x-request-id", id])(fixture.key);
    expect(response.status).toBe(status);
    expect(connectOutcome(response)).toMatchObject({ code });
    expect(await fixture.service.logOf(id)).toMatchObject([{ code }]);
  },
);

it("none of these is logged as an internal error", () => {
  expect(fixture.service.log().filter(({ level }) => level === "error")).toEqual([]);
});
