/** The example for browsers, on another origin than the service. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rootFile } from "../../docs/markdown.ts";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let browser: Browser;
let fixture: Fixture;
const example = createServer((_, response) => {
  response.setHeader("content-type", "text/html").end(rootFile("examples/browser/index.html"));
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => example.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(example.address() as AddressInfo).port}`;
  fixture = await createFixture(smallLedger, { CORS_ORIGINS: origin });
  browser = await startBrowser();
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
  example.close();
});

async function show(key: string) {
  const page = await browser.newPage();
  await page.goto(`${origin}/#${fixture.service.http}`);
  await page.fill("input", key);
  await page.click("button");
  return page;
}

it("shows the very digits", async () => {
  const page = await show(fixture.key);
  await page.waitForSelector("dd");
  expect(await page.textContent("dl")).toContain("availableBalance1250.50");
  expect(await page.textContent("table")).toBe("alpha0.00");
});

it("shows the message of an error", async () => {
  const page = await show("rvk_wrong");
  await page.getByText("API key authentication is required").waitFor();
});
