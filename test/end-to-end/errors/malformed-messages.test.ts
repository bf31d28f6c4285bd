/** Messages that cannot be decoded: an error of the client, and UNAUTHENTICATED without a key. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Outcome } from "../../support/clients/client.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { connectOutcome, frame, grpcWebOutcome } from "../../support/clients/raw-clients.ts";
import { callRawGrpc } from "../../support/clients/raw-grpc.ts";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { UNAUTHENTICATED } from "../../support/expected-error.ts";
import { withKey } from "../../support/request.ts";
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

/** `start_date` with a length of 5 and one byte. */
const TRUNCATED = Buffer.from("0a05ab", "hex");
/** `start_date` with bytes that are not UTF-8. */
const NOT_UTF8 = Buffer.from("0a02c328", "hex");
const EMPTY_FRAME = frame(new Uint8Array());

interface Case {
  readonly name: string;
  readonly code: string;
  call(key: string): Promise<Outcome>;
}

function post(contentType: string, body: Uint8Array | string) {
  return (key: string): Promise<RawResponse> =>
    rawHttp(fixture.service.http, {
      method: "POST",
      target: PATH,
      headers: [["content-type", contentType], ...withKey(key)],
      body,
    });
}

type Call = Case["call"];

function connect(contentType: string, body: Uint8Array | string): Call {
  return async (key) => connectOutcome(await post(contentType, body)(key));
}

function connectGet(query: string): Call {
  return async (key) =>
    connectOutcome(
      await rawHttp(fixture.service.http, { target: `${PATH}?${query}`, headers: withKey(key) }),
    );
}

function grpcWeb(body: Uint8Array): Call {
  return async (key) =>
    grpcWebOutcome({ method: METHOD }, await post("application/grpc-web+proto", body)(key));
}

function grpc(message: Uint8Array): Call {
  return async (key) => {
    const client = grpcClient(fixture.service.grpc);
    try {
      return await callRawGrpc(client, METHOD, message, withKey(key));
    } finally {
      client.close();
    }
  };
}

const JSON_TYPE = "application/json";
const TOO_LARGE = JSON.stringify({ startDate: "x".repeat(MAX_MESSAGE) });

const UNDECODABLE: readonly Case[] = [
  ...["", "{", "[]", '{"startDate":5}'].map((body) => ({
    name: `Connect, JSON ${JSON.stringify(body)}`,
    call: connect(JSON_TYPE, body),
  })),
  ...Object.entries({ TRUNCATED, NOT_UTF8 }).flatMap(([name, bytes]) => [
    { name: `Connect, binary, ${name}`, call: connect("application/proto", bytes) },
    { name: `gRPC-Web, ${name}`, call: grpcWeb(frame(bytes)) },
    { name: `gRPC, ${name}`, call: grpc(bytes) },
  ]),
  { name: "gRPC-Web, an incomplete prefix", call: grpcWeb(Buffer.from([0, 0, 0])) },
  { name: "gRPC-Web, an incomplete message", call: grpcWeb(frame(TRUNCATED).subarray(0, 6)) },
  { name: "Connect GET without a message", call: connectGet("connect=v1&encoding=json") },
  { name: "Connect GET, not JSON", call: connectGet("connect=v1&encoding=json&message=%7B") },
  {
    name: "Connect GET, not base64",
    call: connectGet("connect=v1&encoding=proto&base64=1&message=%25%25"),
  },
].map((example) => ({ ...example, code: "INVALID_ARGUMENT" }));

const OTHERS: readonly Case[] = [
  // gRPC's code for a unary call with no message or more than one.
  { name: "gRPC-Web without a message", code: "UNIMPLEMENTED", call: grpcWeb(Buffer.alloc(0)) },
  {
    name: "gRPC-Web with two messages",
    code: "UNIMPLEMENTED",
    call: grpcWeb(Buffer.concat([EMPTY_FRAME, EMPTY_FRAME])),
  },
  {
    name: "Connect, a message that is too large",
    code: "RESOURCE_EXHAUSTED",
    call: connect(JSON_TYPE, TOO_LARGE),
  },
  {
    name: "gRPC-Web, a message that is too large",
    code: "RESOURCE_EXHAUSTED",
    call: grpcWeb(frame(Buffer.alloc(MAX_MESSAGE + 1))),
  },
  {
    name: "gRPC, a message that is too large",
    code: "RESOURCE_EXHAUSTED",
    call: grpc(Buffer.alloc(MAX_MESSAGE + 1)),
  },
];

it.each([...UNDECODABLE, ...OTHERS])("$name: the code is $code", async ({ code, call }) => {
  expect(await call(fixture.key)).toMatchObject({ code });
});

it.each(UNDECODABLE)("$name: with an invalid key it is UNAUTHENTICATED", async ({ call }) => {
  const { code, message } = UNAUTHENTICATED;
  expect(await call("invalid")).toMatchObject({ code, message });
});

it.each(["text/plain", "application/xml", "application/x-www-form-urlencoded"])(
  "a body of type %s is 415",
  async (type) => {
    const { status, text } = await post(type, "{}")(fixture.key);
    expect({ status, text }).toEqual({
      status: 415,
      text: '{"error":"Unsupported Media Type","message":"unsupported content type"}',
    });
  },
);

it.each([
  ["too large", [["content-type", JSON_TYPE]], TOO_LARGE, 413, "RESOURCE_EXHAUSTED"],
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
  ["malformed", [["content-type", JSON_TYPE]], "{", 400, "INVALID_ARGUMENT"],
] as const)(
  "a Connect message that is %s is logged with the code of its response",
  async (...row) => {
    const [name, types, body, status, code] = row;
    const id = `logged-${name.replaceAll(" ", "-")}`;
    const headers = [...types, ...withKey(fixture.key), ["x-request-id", id] as const];
    const response = await rawHttp(fixture.service.http, {
      method: "POST",
      target: PATH,
      headers,
      body,
    });
    expect(response.status).toBe(status);
    expect(connectOutcome(response)).toMatchObject({ code });
    expect(response.headers["retry-after"]).toBeUndefined();
    expect(await fixture.service.logOf(id)).toMatchObject([{ code }]);
  },
);

it("none of these is logged as an internal error", () => {
  expect(fixture.service.log().filter(({ level }) => level === "error")).toEqual([]);
});
