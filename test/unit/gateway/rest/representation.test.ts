/** The forms of a response: JSON and CSV, entity tags, compression. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  GetServerBreakdownResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { MIN_COMPRESSED_BYTES } from "../../../../src/gateway/negotiation.ts";
import {
  createRepresentation,
  FASTEST,
  matchesTag,
  representationResponse,
} from "../../../../src/gateway/representation.ts";
import { rawHttp } from "../../../support/clients/raw-http.ts";
import { type Call, listen } from "../gateway.ts";

const DECOMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
};

const PATH = "/api/provider/revenue/servers";

const breakdown = (servers: number) =>
  create(GetServerBreakdownResponseSchema, {
    servers: Array.from({ length: servers }, (_, index) => ({
      serverId: `s${index}`,
      totalRevenue: { value: "1.00" },
    })),
  });

/** Serves a response with so many servers, the same message for every call. */
async function serve(servers: number) {
  const message = breakdown(servers);
  const { url, calls } = await listen(RevenueService, (call: Call) => {
    call.request();
    return message;
  });
  const get = (headers: Record<string, string> = {}, method = "GET") =>
    rawHttp(url, { target: PATH, method, headers: Object.entries(headers) });
  return { get, calls };
}

it("CSV is sent if the client asks for it, with an entity tag of its own", async () => {
  const { get } = await serve(1);
  const { status, headers, text } = await get({ accept: "text/csv" });
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 200,
    type: "text/csv; charset=utf-8; header=present",
  });
  expect(text.split("\r\n")[1]).toMatch(/^s0,,,,1\.00,/);
  expect(headers.etag).not.toBe((await get()).headers.etag);
});

it("a client that accepts neither form gets a 406", async () => {
  const { get } = await serve(1);
  const { status, text } = await get({ accept: "application/xml" });
  expect(status).toBe(406);
  expect(JSON.parse(text)).toEqual({
    error: "Not Acceptable",
    message: "no acceptable form of the response: application/json and text/csv are offered",
  });
});

it("authentication comes before the form of the response", async () => {
  const refuse = () => {
    throw new ServiceError("unauthenticated");
  };
  const { url } = await listen(RevenueService, () => breakdown(0), refuse);
  const response = await fetch(url + PATH, { headers: { accept: "application/xml" } });
  expect(response.status).toBe(401);
});

describe("an entity tag", () => {
  it.each(["GET", "HEAD"])("that the client has makes %s a 304 without a body", async (method) => {
    const { get } = await serve(1);
    const { headers } = await get();
    const again = await get({ "if-none-match": `"x", ${headers.etag}` }, method);
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
    expect(again.headers).toMatchObject({ etag: headers.etag, vary: headers.vary });
    expect(again.headers).not.toHaveProperty("content-type");
  });

  it("is the same for every compression", async () => {
    const { get } = await serve(100);
    const { headers } = await get();
    const again = await get({ "if-none-match": `${headers.etag}`, "accept-encoding": "gzip" });
    expect(again.status).toBe(304);
  });

  it("changes with the response", async () => {
    const [one, two] = [await serve(1), await serve(2)];
    const { headers } = await one.get();
    expect((await two.get({ "if-none-match": `${headers.etag}` })).status).toBe(200);
  });

  it.each([
    ['W/"a"', true],
    ['"a"', true],
    ['"b",W/"a"', true],
    ["*", true],
    ['W/"b"', false],
    ["a", false],
    ["", false],
  ])('If-None-Match: %s of a client matches W/"a": %s', (header, matches) => {
    expect(matchesTag(header, 'W/"a"')).toBe(matches);
  });
});

describe("compression", () => {
  it.each(["br", "zstd", "gzip"])("%s has the bytes of the response", async (coding) => {
    const { get } = await serve(100);
    const plain = await get();
    const response = await get({ "accept-encoding": coding });
    expect(response.headers["content-encoding"]).toBe(coding);
    expect(Number(response.headers["content-length"])).toBe(response.bytes.length);
    expect(response.bytes.length).toBeLessThan(plain.bytes.length / 4);
    const decoded = DECOMPRESS[coding]?.(response.bytes).toString();
    expect(decoded).toBe(plain.text);
  });

  it("is left out for a response that is small, and for a client that does not ask for it", async () => {
    const small = await (await serve(1)).get({ "accept-encoding": "gzip" });
    expect(small.bytes.length).toBeLessThan(MIN_COMPRESSED_BYTES);
    for (const { headers } of [small, await (await serve(100)).get()]) {
      expect(headers).not.toHaveProperty("content-encoding");
    }
  });

  it("that fails is logged, the bytes are sent as they are, and the next request tries again", async () => {
    // zlib has the levels 0 to 9.
    const levels = { ...FASTEST, gzip: 99 };
    const representation = createRepresentation("x".repeat(2_000), "text/plain", levels);
    const lines: object[] = [];
    const write = (fields: object, message: string) => void lines.push({ ...fields, message });
    const request = { id: "r", headers: { "accept-encoding": "gzip" } };
    const get = () =>
      representationResponse(representation, request, {}, { info() {}, error: write });
    const plain = await get();
    expect(plain).toMatchObject({ status: 200, body: representation.body });
    expect(plain.headers).not.toHaveProperty("content-encoding");
    const message = "cannot compress the response";
    expect(lines).toEqual([{ requestId: "r", coding: "gzip", err: expect.any(Error), message }]);
    levels.gzip = 1;
    const compressed = await get();
    expect(compressed.headers).toMatchObject({ "content-encoding": "gzip" });
    expect(gunzipSync(compressed.body as Buffer)).toEqual(representation.body);
  });
});
