/** Messages that cannot be read: the caller's mistake, and nobody's who has no key. */
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Outcome, RpcRequest } from "../../support/clients/client.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { callRaw } from "../../support/clients/grpc-raw.ts";
import { connectOutcome, frame, grpcWebOutcome } from "../../support/clients/raw-clients.ts";
import { type RawAnswer, rawHttp } from "../../support/clients/raw-http.ts";
import { UNAUTHENTICATED } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const PATH = "/revenue.v1.RevenueService/GetServerBreakdown";
const QUESTION: RpcRequest = { method: "GetServerBreakdown" };
const LARGEST = 64 * 1024;

/** A field with the number 1 and a length of 5, and then too little of it. */
const CUT = Buffer.from("0a05ab", "hex");
/** `start_date` with bytes that are not UTF-8. */
const NOT_UTF8 = Buffer.from("0a02c328", "hex");
/** `start_date` as a varint, and then a group that never ends. */
const GROUP = Buffer.from("0b0801", "hex");
const GARBAGE = Buffer.from("ffffffffffffffffffff", "hex");

const NONE = frame(new Uint8Array());

interface Case {
  readonly of: string;
  readonly code: string;
  call(key: string): Promise<Outcome>;
}

function post(contentType: string, body: Uint8Array | string, ...more: [string, string][]) {
  return (key: string): Promise<RawAnswer> =>
    rawHttp(fixture.service.http, {
      method: "POST",
      target: PATH,
      headers: [["content-type", contentType], ...more, ...withKey(key)],
      body,
    });
}

function get(query: string) {
  return (key: string): Promise<RawAnswer> =>
    rawHttp(fixture.service.http, { target: `${PATH}?${query}`, headers: withKey(key) });
}

const connect =
  (send: (key: string) => Promise<RawAnswer>) =>
  async (key: string): Promise<Outcome> =>
    connectOutcome(await send(key));
const json = (body: string) => connect(post("application/json", body));
const proto = (body: Uint8Array) => connect(post("application/proto", body));
const web = (body: Uint8Array, ...more: [string, string][]) => {
  const send = post("application/grpc-web+proto", body, ...more);
  return async (key: string): Promise<Outcome> => grpcWebOutcome(QUESTION, await send(key));
};
const grpc =
  (message: Uint8Array) =>
  async (key: string): Promise<Outcome> => {
    const client = grpcClient(fixture.service.grpc);
    try {
      return await callRaw(client, "GetServerBreakdown", message, withKey(key));
    } finally {
      client.close();
    }
  };

const WRONG = "INVALID_ARGUMENT";
const CASES: readonly Case[] = [
  ...["", "{", "[]", '"x"', "1", '{"startDate":5}', '{"startDate":["x"]}', "\0"].map((body) => ({
    of: `Connect, JSON: ${JSON.stringify(body)}`,
    code: WRONG,
    call: json(body),
  })),
  ...Object.entries({ CUT, NOT_UTF8, GROUP, GARBAGE }).flatMap(([name, bytes]) => [
    { of: `Connect, binary: ${name}`, code: WRONG, call: proto(bytes) },
    { of: `gRPC-Web: ${name}`, code: WRONG, call: web(frame(bytes)) },
    { of: `gRPC: ${name}`, code: WRONG, call: grpc(bytes) },
  ]),
  // A unary call with another number of messages than one: so says gRPC.
  { of: "gRPC-Web: no message", code: "UNIMPLEMENTED", call: web(Buffer.alloc(0)) },
  { of: "gRPC-Web: two messages", code: "UNIMPLEMENTED", call: web(Buffer.concat([NONE, NONE])) },
  { of: "gRPC-Web: half a frame", code: WRONG, call: web(Buffer.from([0, 0, 0])) },
  { of: "gRPC-Web: a frame cut short", code: WRONG, call: web(frame(CUT).subarray(0, 6)) },
  { of: "Connect, GET: no message", code: WRONG, call: connect(get("connect=v1&encoding=json")) },
  {
    of: "Connect, GET: no JSON",
    code: WRONG,
    call: connect(get("connect=v1&encoding=json&message=%7B")),
  },
  {
    of: "Connect, GET: no base64",
    code: WRONG,
    call: connect(get("connect=v1&encoding=proto&base64=1&message=%25%25")),
  },
  {
    of: "Connect: too large",
    code: "RESOURCE_EXHAUSTED",
    call: json(JSON.stringify({ startDate: "x".repeat(LARGEST) })),
  },
  {
    of: "gRPC-Web: too large",
    code: "RESOURCE_EXHAUSTED",
    call: web(frame(Buffer.alloc(LARGEST + 1))),
  },
  { of: "gRPC: too large", code: "RESOURCE_EXHAUSTED", call: grpc(Buffer.alloc(LARGEST + 1)) },
];

it.each(CASES)("$of is $code", async ({ code, call }) => {
  const outcome = await call(fixture.key);
  expect(outcome).toMatchObject({ code });
});

const UNREADABLE = CASES.filter(({ code }) => code === WRONG);

it.each(UNREADABLE)("$of is UNAUTHENTICATED with a bad key", async ({ call }) => {
  const { code, message } = UNAUTHENTICATED;
  expect(await call("bad")).toMatchObject({ code, message });
});

it.each(["text/plain", "application/xml", "application/x-www-form-urlencoded"])(
  "a body of %s is 415",
  async (type) => {
    const { status, text } = await post(type, "{}")(fixture.key);
    expect({ status, text }).toEqual({
      status: 415,
      text: '{"error":"Unsupported Media Type","message":"this path does not take this content type"}',
    });
  },
);

it("nothing of all this was an internal error", () => {
  expect(fixture.service.log().filter(({ level }) => level === "error")).toEqual([]);
});
