/** What HTTP serves without a key, the pages and the OpenAPI document: headers, caching, compression, methods, and WEB=off. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import type { Gateway } from "../../../src/gateway/server.ts";
import { createPorts } from "../../../src/ports.ts";
import type { Rpc } from "../../../src/rpc/call.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { collectLog } from "../../support/collected-log.ts";

/** The policy of a page, which runs and uses what is in it alone. */
function policyOf(page: string): string {
  const hashesOf = (element: string) =>
    page
      .split(new RegExp(`<${element}(?: [^>]*)?>`))
      .slice(1)
      .map((rest) => rest.slice(0, rest.indexOf(`</${element}>`)))
      .map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`)
      .join(" ");
  return `default-src 'none'; script-src ${hashesOf("script")}; style-src ${hashesOf("style")}; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

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

it.each(["/", "/docs"])("%s is one file, and may load nothing", async (path) => {
  const { status, headers, text } = await get(path);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf(text),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
  });
  expect(text).toMatch(/^<!doctype html>/i);
  expect(text.match(/<script/g)).toHaveLength(1);
  // The policy forbids them; the browser would leave them out silently.
  const markup = text.replace(/<script.*?<\/script>|<style>.*?<\/style>/gs, "");
  expect(markup).not.toMatch(/ style="| on\w+="| src="|<link [^>]*href="(?!data:)/);
});

it("the OpenAPI document may be kept for minutes, no other file unasked", async () => {
  expect((await get("/licenses.txt")).headers["cache-control"]).toBe("no-cache");
  const document = await get("/openapi.json?v=1");
  expect(document.text).toBe(readFileSync("gen/openapi.json", "utf8"));
  expect(document.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "public, max-age=300",
    "x-content-type-options": "nosniff",
  });
});

it("each is compressed as the client asks for, and is not sent again while it is the same", async () => {
  for (const path of ["/", "/openapi.json"]) {
    const plain = await get(path);
    const { headers, bytes } = await get(path, [["accept-encoding", "br"]]);
    expect(headers).toMatchObject({ "content-encoding": "br", vary: "accept-encoding" });
    expect(brotliDecompressSync(bytes).equals(plain.bytes)).toBe(true);
    const again = await get(path, [["if-none-match", `${plain.headers.etag}`]]);
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
    expect(again.headers["cache-control"]).toBe(plain.headers["cache-control"]);
  }
});

it("HEAD is GET without a body, and other methods are not allowed", async () => {
  for (const path of ["/", "/docs", "/licenses.txt", "/openapi.json"]) {
    const head = await get(path, [], "HEAD");
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
    expect(head.headers["content-length"]).toBe((await get(path)).headers["content-length"]);
    const post = await get(path, [], "POST");
    expect({ status: post.status, allow: post.headers.allow }).toEqual({
      status: 405,
      allow: "GET, HEAD",
    });
  }
});

it("/docs/ leads to /docs, and nothing else is found", async () => {
  const { status, headers } = await get("/docs/");
  expect({ status, location: headers.location }).toEqual({ status: 308, location: "../docs" });
  const unknown = ["/index.html", "/assets/", "/assets/x.js", "/assets/../docs"];
  for (const path of [...unknown, "/..%2fpackage.json"]) {
    const { status, headers } = await get(path);
    const type = headers["content-type"];
    expect({ path, status, type }).toMatchObject({
      status: 404,
      type: "application/json; charset=utf-8",
    });
  }
});

it("WEB=off leaves the pages and the OpenAPI document out", async () => {
  const off = gatewayWith("off");
  const url = `http://127.0.0.1:${await off.listen("127.0.0.1", 0)}`;
  for (const target of ["/", "/docs", "/licenses.txt", "/openapi.json"]) {
    expect((await rawHttp(url, { target })).status, target).toBe(404);
  }
  await off.stop(0);
});
