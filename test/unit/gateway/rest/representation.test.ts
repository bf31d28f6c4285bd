/** The forms of a response: JSON and CSV, entity tags, compression. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  GetServerBreakdownResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { matchesTag } from "../../../../src/gateway/representation.ts";
import { rawHttp } from "../../../support/clients/raw-http.ts";
import { listen } from "../gateway.ts";

const DECOMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
};

const PATH = "/api/provider/revenue/servers";

/** Serves a response with so many servers, the same message for every call. */
async function serve(servers: number) {
  const message = create(GetServerBreakdownResponseSchema, {
    servers: Array.from({ length: servers }, (_, index) => ({ serverId: `s${index}` })),
  });
  const { url } = await listen(RevenueService, () => message);
  return (headers: Record<string, string> = {}, method = "GET") =>
    rawHttp(url, { target: PATH, method, headers: Object.entries(headers) });
}

it.each(["GET", "HEAD"])(
  "a tag that the client has makes %s a 304, however it is compressed",
  async (method) => {
    const get = await serve(100);
    const { headers } = await get();
    const known = { "if-none-match": `"x", ${headers.etag}`, "accept-encoding": "gzip" };
    const again = await get(known, method);
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
    expect(again.headers).toMatchObject({ etag: headers.etag, vary: headers.vary });
    expect(again.headers).not.toHaveProperty("content-type");
  },
);

it.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b",W/"a"', true],
  ["*", true],
  ['W/"b"', false],
  ["a", false],
])('If-None-Match: %s of a client matches W/"a": %s', (header, matches) => {
  expect(matchesTag(header, 'W/"a"')).toBe(matches);
});

it.each(["br", "zstd", "gzip"])(
  "%s has the bytes of the response, of one that is not small",
  async (coding) => {
    const get = await serve(100);
    const plain = await get();
    expect(plain.headers).not.toHaveProperty("content-encoding");
    const response = await get({ "accept-encoding": coding });
    expect(response.headers["content-encoding"]).toBe(coding);
    expect(Number(response.headers["content-length"])).toBe(response.bytes.length);
    expect(response.bytes.length).toBeLessThan(plain.bytes.length / 4);
    expect(DECOMPRESS[coding]?.(response.bytes).toString()).toBe(plain.text);
    const { headers } = await (await serve(1))({ "accept-encoding": coding });
    expect(headers).not.toHaveProperty("content-encoding");
  },
);
