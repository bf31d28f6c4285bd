/**
 * The cases of the Connect conformance suite that concern a server of unary RPCs, on this service:
 * https://github.com/connectrpc/conformance. The suite itself calls a service of its own, whose
 * responses the caller prescribes.
 *
 * Two cases differ. A message that is marked as compressed, without a compression, is INTERNAL in the
 * suite. It is the client's fault, so gRPC-Web answers INVALID_ARGUMENT; grpc-js reads it as it is. And
 * grpc-js answers a call whose method is not POST.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../../support/clients/client.ts";
import { connectOutcome, frame, grpcWebOutcome } from "../../support/clients/raw-clients.ts";
import { rawGrpc } from "../../support/clients/raw-grpc.ts";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const METHOD = "GetOverview";
const PATH = `/revenue.v1.RevenueService/${METHOD}`;
const UNKNOWN_PATH = "/revenue.v1.UnknownService/UnknownMethod";
/** GetOverviewRequest has no fields: its message is zero bytes long. */
const EMPTY = new Uint8Array();

interface Request {
  readonly method?: string;
  readonly target?: string;
  readonly headers: RequestHeaders;
  readonly body?: Uint8Array | string;
}

function send({ method = "POST", target = PATH, headers, body }: Request): Promise<RawResponse> {
  return rawHttp(fixture.service.http, {
    method,
    target,
    headers: [...headers, ...withKey(fixture.key)],
    ...(body !== undefined && { body }),
  });
}

function grpc({ target = PATH, headers, ...request }: Request) {
  const all = [...headers, ...withKey(fixture.key)];
  return rawGrpc(fixture.service.grpc, { ...request, path: target, headers: all });
}

/** A response to a compressed request may be compressed. */
function unzipped(response: RawResponse): RawResponse {
  if (response.headers["content-encoding"] !== "gzip") return response;
  return { ...response, text: gunzipSync(response.bytes).toString() };
}

const type = (value: string, ...others: RequestHeaders): RequestHeaders => [
  ["content-type", value],
  ...others,
];

async function grpcWeb(request: Request): Promise<Outcome> {
  return grpcWebOutcome({ method: METHOD }, await send(request));
}

/** What every successful response has, in the JSON of protobuf. */
const SUCCESS = { response: { summary: { availableBalance: { value: "1250.50" } } } };

describe("success", () => {
  it.each([
    ["JSON with a charset", type("application/json; charset=utf-8"), "{}"],
    ["JSON in gzip", type("application/json", ["content-encoding", "gzip"]), gzipSync("{}")],
  ])("Connect, %s", async (_, headers, body) => {
    expect(connectOutcome(unzipped(await send({ headers, body })))).toMatchObject(SUCCESS);
  });

  it.each([
    ["an empty message", EMPTY, []],
    ["an empty message in gzip", gzipSync(EMPTY), [["content-encoding", "gzip"]] as const],
  ])("Connect, binary, %s", async (_, body, others) => {
    const headers = type("application/proto", ...others);
    const response = await send({ headers, body });
    expect(response.status).toBe(200);
    expect(response.bytes.toString()).toContain("1250.50");
  });

  it("Connect, a compressed response for a client that accepts it", async () => {
    const headers = type("application/json", ["accept-encoding", "gzip"]);
    const response = await send({ headers, body: "{}" });
    expect(response.headers["content-encoding"]).toBe("gzip");
    expect(connectOutcome(unzipped(response))).toMatchObject(SUCCESS);
  });

  it.each([
    ["JSON in base64", "encoding=json&base64=1&message=e30"],
    [
      "JSON in gzip",
      `encoding=json&base64=1&compression=gzip&message=${gzipSync("{}").toString("base64url")}`,
    ],
  ])("Connect by GET, %s", async (_, query) => {
    const target = `${PATH}?connect=v1&${query}`;
    const response = unzipped(await send({ method: "GET", target, headers: [] }));
    expect(connectOutcome(response)).toMatchObject(SUCCESS);
  });

  it.each([
    ["application/grpc-web", [], frame(EMPTY)],
    ["application/grpc-web+proto", [["grpc-encoding", "gzip"]] as const, frame(gzipSync(EMPTY), 1)],
    ["application/grpc-web+proto", [["grpc-timeout", "5S"]] as const, frame(EMPTY)],
  ])("gRPC-Web, %s %j", async (contentType, others, body) => {
    expect(await grpcWeb({ headers: type(contentType, ...others), body })).toMatchObject(SUCCESS);
  });

  it.each([
    ["application/grpc", [], frame(EMPTY)],
    ["application/grpc", [["grpc-timeout", "5000m"]] as const, frame(EMPTY)],
  ])("gRPC, %s %j", async (contentType, others, body) => {
    const outcome = await grpc({ headers: type(contentType, ...others), body });
    expect(outcome).toMatchObject({ http: 200, code: "OK" });
    expect(outcome.bytes.toString()).toContain("1250.50");
  });
});

describe("Connect, unexpected requests", () => {
  it.each<[string, Request, { status: number; code?: string }]>([
    ["content type", { headers: type("image/jpeg"), body: "12345678" }, { status: 415 }],
    [
      "compression",
      { headers: type("application/proto", ["content-encoding", "foo"]), body: EMPTY },
      { status: 501, code: "UNIMPLEMENTED" },
    ],
    [
      "timeout",
      { headers: type("application/json", ["connect-timeout-ms", "soon"]), body: "{}" },
      { status: 400, code: "INVALID_ARGUMENT" },
    ],
  ])("%s", async (_, request, { status, code }) => {
    const response = await send(request);
    expect(response.status).toBe(status);
    if (code !== undefined) expect(connectOutcome(response)).toMatchObject({ code });
  });
});

describe("gRPC-Web, unexpected requests", () => {
  const headers = type("application/grpc-web+proto");
  it.each<[string, Request, string]>([
    ["no message", { headers, body: EMPTY }, "UNIMPLEMENTED"],
    [
      "two messages",
      { headers, body: Buffer.concat([frame(EMPTY), frame(EMPTY)]) },
      "UNIMPLEMENTED",
    ],
    [
      "compression",
      { headers: [...headers, ["grpc-encoding", "foo"]], body: frame(EMPTY, 1) },
      "UNIMPLEMENTED",
    ],
    [
      "a compressed message without a compression",
      { headers: [...headers, ["grpc-encoding", "identity"]], body: frame(EMPTY, 1) },
      "INVALID_ARGUMENT",
    ],
  ])("%s", async (_, request, code) => {
    expect(await grpcWeb(request)).toMatchObject({ code });
  });
});

describe("gRPC, unexpected requests", () => {
  const headers = type("application/grpc+proto");
  it.each<[string, Request, string]>([
    ["no message", { headers, body: EMPTY }, "UNIMPLEMENTED"],
    [
      "two messages",
      { headers, body: Buffer.concat([frame(EMPTY), frame(EMPTY)]) },
      "UNIMPLEMENTED",
    ],
    ["path", { target: UNKNOWN_PATH, headers, body: frame(EMPTY) }, "UNIMPLEMENTED"],
    [
      "compression",
      { headers: [...headers, ["grpc-encoding", "foo"]], body: frame(EMPTY, 1) },
      "UNIMPLEMENTED",
    ],
    ["part of a prefix", { headers, body: Buffer.from([0, 0, 0]) }, "UNIMPLEMENTED"],
    [
      "part of a message",
      { headers, body: frame(Buffer.alloc(10)).subarray(0, 8) },
      "UNIMPLEMENTED",
    ],
  ])("%s", async (_, request, code) => {
    expect(await grpc(request)).toMatchObject({ code });
  });

  it.each<[string, RequestHeaders, string]>([
    ["a timeout that is none", [["grpc-timeout", "soon"]], "INTERNAL"],
    ["a timeout that has passed", [["grpc-timeout", "1n"]], "DEADLINE_EXCEEDED"],
    ["a timeout of 24 days", [["grpc-timeout", "2073600S"]], "OK"],
  ])("%s", async (_, others, code) => {
    const request = { headers: [...headers, ...others], body: frame(EMPTY) };
    expect(await grpc(request)).toMatchObject({ code });
  });

  it("content type", async () => {
    const request = { headers: type("image/jpeg"), body: "12345678" };
    expect(await grpc(request)).toMatchObject({ http: 415 });
  });
});
