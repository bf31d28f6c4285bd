/** What HTTP serves without a key, the pages and the OpenAPI document: what is in them, headers, methods, and WEB=off. */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import type { Gateway } from "../../../src/gateway/server.ts";
import { createPorts } from "../../../src/ports.ts";
import type { Rpc } from "../../../src/rpc/call.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { collectLog } from "../../support/collected-log.ts";

/** The gateway of the service, with `WEB` on or off. No call is accepted. */
function gatewayWith(web: string): Gateway {
  return createPorts({
    config: readConfig({ DATABASE_URL: "mysql://u:p@h/d", WEB: web }),
    rpc: { accept: () => Promise.reject(new Error("no call is expected")) } as Rpc,
    log: collectLog().log,
    report: () => {},
    metrics: undefined,
    certificates: undefined,
  }).gateway;
}

const gateway = gatewayWith("on");
let url: string;
beforeAll(async () => {
  url = `http://127.0.0.1:${await gateway.listen("127.0.0.1", 0)}`;
});
afterAll(() => gateway.stop(0));

const get = (target: string, headers: [string, string][] = [], method = "GET") =>
  rawHttp(url, { method, target, headers });

// The hashes are right if Chromium runs the page: test/end-to-end/web/.
const POLICY =
  "default-src 'none'; script-src HASH; style-src HASH; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

it.each([
  ["/", 57_000],
  ["/docs", 500_000],
])(
  "%s is one file of at most %d bytes, may load nothing, and is not sent again while it is the same",
  async (path, most) => {
    const { status, headers, text, bytes } = await get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
    const policy = `${headers["content-security-policy"]}`;
    expect(
      policy.replaceAll(/'sha256-[^']{44}'/g, "HASH").replaceAll(/HASH( HASH)+/g, "HASH"),
    ).toBe(POLICY);
    expect(text).toMatch(/^<!doctype html>/i);
    // The policy forbids them; the browser would leave them out silently.
    const markup = text.replace(/<script.*?<\/script>|<style>.*?<\/style>/gs, "");
    expect(markup).not.toMatch(/<script| style="| on\w+="| src="|<link [^>]*href="(?!data:)/);

    const compressed = await get(path, [["accept-encoding", "br"]]);
    expect(brotliDecompressSync(compressed.bytes).equals(bytes)).toBe(true);
    expect(compressed.bytes.length).toBeLessThan(most);
    const again = await get(path, [["if-none-match", `${headers.etag}`]]);
    expect([again.status, again.text, again.headers["cache-control"]]).toEqual([
      304,
      "",
      "no-cache",
    ]);
  },
);

it("the OpenAPI document is asked for again each time; HEAD has no body, POST is not allowed, /docs/ leads to /docs, and nothing else is found", async () => {
  const { text, headers } = await get("/openapi.json?v=1");
  expect(text).toBe(readFileSync("gen/openapi.json", "utf8"));
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
  });
  const head = await get("/docs", [], "HEAD");
  expect([head.status, head.text]).toEqual([200, ""]);
  const post = await get("/", [], "POST");
  expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  const moved = await get("/docs/");
  expect([moved.status, moved.headers.location]).toEqual([308, "../docs"]);
  expect((await get("/..%2fpackage.json")).status).toBe(404);
});

it("WEB=off leaves the pages and the OpenAPI document out", async () => {
  const off = gatewayWith("off");
  const url = `http://127.0.0.1:${await off.listen("127.0.0.1", 0)}`;
  for (const target of ["/", "/docs", "/openapi.json"]) {
    expect((await rawHttp(url, { target })).status, target).toBe(404);
  }
  await off.stop(0);
});
