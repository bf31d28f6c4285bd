/** The forms of a response: JSON and CSV, entity tags, compression. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  GetServerBreakdownResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { MIN_COMPRESSED_BYTES } from "../../../../src/gateway/negotiation.ts";
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

describe("an entity tag", () => {
  it.each(["GET", "HEAD"])(
    "that the client has makes %s a 304, however it is compressed",
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
    ["", false],
  ])('If-None-Match: %s of a client matches W/"a": %s', (header, matches) => {
    expect(matchesTag(header, 'W/"a"')).toBe(matches);
  });
});

describe("compression", () => {
  it.each(["br", "zstd", "gzip"])("%s has the bytes of the response", async (coding) => {
    const get = await serve(100);
    const plain = await get();
    const response = await get({ "accept-encoding": coding });
    expect(response.headers["content-encoding"]).toBe(coding);
    expect(Number(response.headers["content-length"])).toBe(response.bytes.length);
    expect(response.bytes.length).toBeLessThan(plain.bytes.length / 4);
    const decoded = DECOMPRESS[coding]?.(response.bytes).toString();
    expect(decoded).toBe(plain.text);
  });

  it("is left out for a response that is small, and for a client that does not ask for it", async () => {
    const small = await (await serve(1))({ "accept-encoding": "gzip" });
    expect(small.bytes.length).toBeLessThan(MIN_COMPRESSED_BYTES);
    for (const { headers } of [small, await (await serve(100))()]) {
      expect(headers).not.toHaveProperty("content-encoding");
    }
  });
});
