/** The files of the pages: headers, caching, compression, methods, and WEB=off. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let fixture: Fixture;
/** The script of the page. */
let script: string;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  const { text } = await get("/");
  script = /src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? "";
});
afterAll(() => fixture?.dispose());

const get = (target: string, headers: [string, string][] = [], method = "GET") =>
  rawHttp(fixture.service.http, { method, target, headers });

it.each(["/", "/docs"])("%s is a page that may load from its own origin only", async (path) => {
  const { status, headers, text } = await get(path);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
  });
  expect(text).toMatch(/^<!doctype html>/i);
  // The policy forbids them; the browser would leave them out silently.
  expect(text).not.toMatch(/ style="|<style|<script>| on\w+="|https?:\/\/[^"]*\.(js|css)/);
});

it("a file whose name changes with its content may be kept for ever, and no other", async () => {
  expect(script).toMatch(/-[\w-]{8}\.js$/);
  const asset = await get(script);
  expect(asset.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  const licenses = await get("/licenses.txt");
  expect(licenses).toMatchObject({ status: 200, headers: { "cache-control": "no-cache" } });
});

it("/docs/ leads to /docs", async () => {
  const { status, headers } = await get("/docs/");
  expect({ status, location: headers.location }).toEqual({ status: 308, location: "/docs" });
});

it("a file is compressed as the browser asks for, and is not sent again while it is the same", async () => {
  const plain = await get(script);
  const decompress = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const coding of ["br", "gzip"] as const) {
    const { headers, bytes } = await get(script, [["accept-encoding", coding]]);
    expect(headers).toMatchObject({ "content-encoding": coding, vary: "accept-encoding" });
    expect(decompress[coding](bytes).equals(plain.bytes)).toBe(true);
    expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
  }
  const again = await get("/", [["if-none-match", `${(await get("/")).headers.etag}`]]);
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
});

it("HEAD is GET without a body, and other methods are not allowed", async () => {
  for (const path of ["/", "/docs", script]) {
    const head = await get(path, [], "HEAD");
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
    expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
    const post = await get(path, [], "POST");
    expect({ status: post.status, allow: post.headers.allow }).toEqual({
      status: 405,
      allow: "GET, HEAD",
    });
  }
});

it.each(["/index.html", "/assets/", "/assets/x.js", "/assets/../docs", "/..%2fpackage.json"])(
  "%s is not found",
  async (path) => {
    const { status, headers } = await get(path);
    expect({ status, type: headers["content-type"] }).toEqual({
      status: 404,
      type: "application/json; charset=utf-8",
    });
  },
);

it("WEB=off leaves the pages out, and nothing else", async () => {
  const service = await startService(fixture.database.url, { WEB: "off" });
  const statuses = await Promise.all(
    ["/", "/docs", script, "/openapi.json", "/api/provider/revenue"].map(
      async (target) => (await rawHttp(service.http, { target })).status,
    ),
  );
  expect(statuses).toEqual([404, 404, 404, 404, 401]);
  await service.stop();
});
