/** The pages in a rollout, in Chromium: two versions answer behind a balancer that alternates between them. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { securityHeaders } from "../../../src/gateway/web/security-headers.ts";
import { openPage } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const LOADS = 6;

let fixture: WebFixture;
let balancer: Server;
let url: string;
/** What was asked, in order: each path of the versions in turn. */
const asked: string[] = [];

/** Each version has its own script and its own styles; a file that a page named would be missing in the other one. */
async function answer(path: string, version: "this" | "other"): Promise<Response> {
  const response = await fetch(fixture.service.http + path);
  if (version === "this" || response.status !== 200) return response;
  if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
  const body = (await response.text())
    .replace(/(<style>)/, "$1/* another version */")
    .replace(/(<script type="module">)/, "$1/* another version */");
  const headers = { "content-type": "text/html", ...securityHeaders(Buffer.from(body)) };
  return new Response(body, { headers });
}

beforeAll(async () => {
  fixture = await createWebFixture(smallLedger);
  balancer = createServer(async (request, response) => {
    const path = request.url ?? "/";
    const version = asked.filter((before) => before === path).length % 2 === 0 ? "this" : "other";
    asked.push(path);
    const { status, headers, body } = await answer(path, version);
    const { "content-encoding": _, "content-length": __, ...sent } = Object.fromEntries(headers);
    response.writeHead(status, sent);
    for await (const chunk of body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => balancer.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
});
afterAll(async () => {
  balancer?.closeAllConnections();
  balancer?.close();
  await fixture?.dispose();
});

it.each([
  ["/", "the form for the key", () => "label:has-text('API key')"],
  ["/docs", "the reference", () => "[id$=getOverview]"],
])("%s shows %s whichever version answers, and asks neither for more", async (path, _, shown) => {
  for (let load = 0; load < LOADS; load++) {
    const before = asked.length;
    const { page, faults } = await openPage(fixture.browser, url + path);
    await page.locator(shown()).first().waitFor();
    expect(await page.evaluate("getComputedStyle(document.body).fontFamily")).toContain(
      "system-ui",
    );
    expect(faults).toEqual([]);
    // The page, and the document that the reference shows; no script, no styles, no icon.
    expect(asked.slice(before)).toEqual(path === "/" ? ["/"] : ["/docs", "/openapi.json"]);
    await page.context().close();
  }
});
