/** The reference page in Chromium, and the example for browsers, which calls from another origin. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { rootFile } from "../../docs/markdown.ts";
import { BROWSER_TIMEOUT } from "../../support/browser/chromium.ts";
import {
  enterKey,
  faultsOfLook,
  LOOKS,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Serves the example. */
const example = createServer((_, response) => {
  response.setHeader("content-type", "text/html").end(rootFile("examples/browser/index.html"));
});
let exampleOrigin: string;
let fixture: WebFixture;
/** One page for all tests, because it is dear to load: it was opened from the other one, with a key. */
let watched: WatchedPage;
let page: Page;
beforeAll(async () => {
  await new Promise<void>((resolve) => example.listen(0, "127.0.0.1", resolve));
  exampleOrigin = `http://127.0.0.1:${(example.address() as AddressInfo).port}`;
  fixture = await createWebFixture(smallLedger, { CORS_ORIGINS: exampleOrigin });
  watched = await fixture.open("/");
  page = watched.page;
  await enterKey(page, fixture.key);
  await page.getByRole("link", { name: "API reference" }).click();
}, BROWSER_TIMEOUT);
afterEach(() => {
  expect(watched.faults).toEqual([]);
});
afterAll(async () => {
  example.close();
  await fixture?.dispose();
});

/** Unfolds a request of the reference and sends it. */
async function execute(operation: string): Promise<void> {
  const request = page.locator(`[id$=${operation}]`);
  await request.locator(".opblock-summary-control").click();
  await request.getByRole("button", { name: "Try it out" }).click();
  await request.getByRole("button", { name: "Execute" }).click();
}

it("explains authentication, numbers, errors and limits, with complete programs", async () => {
  for (const title of ["Authentication", "What each number means", "Errors", "Headers"]) {
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  }
  for (const language of ["curl", "TypeScript", "Python"]) {
    await page.locator("summary", { hasText: language }).click();
  }
  await page.getByText("urllib.request.urlopen").waitFor();
  await page.getByText(`export REVENUE_URL=${fixture.service.http}`).waitFor();
  // Every link of the contents leads to a heading.
  const targets = await page
    .locator(".contents a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
  for (const target of targets) expect(await page.locator(target).count(), target).toBe(1);
});

it("uses the key that was entered on the other page", async () => {
  await execute("getServerBreakdown");
  await page.locator("pre.answer").getByText('"totalServers": 1').waitFor();
});

it("has no finding of axe, wide and light or narrow and dark, and nothing is cut off", async () => {
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
});

it("sends a request with a key that is entered, and shows the answer with the digits of the service", async () => {
  await page.getByRole("button", { name: "Authorize" }).first().click();
  await page.getByRole("button", { name: "Remove authorization" }).click();
  const key = page.locator(".auth-container input").first();
  await key.fill(await fixture.issueKey("1"));
  await key.press("Enter");
  await page.getByRole("button", { name: "Close" }).first().click();
  await execute("getOverview");
  const answer = page.locator("[id$=getOverview] pre.answer").first();
  await answer.getByText('"pricePerHour": 2.50').waitFor();
  await answer.getByText('"availableBalance": 1250.50').waitFor();
  expect(await page.evaluate("localStorage.length")).toBe(0);
});

it("the example for browsers shows the very digits, and the message of an error", async () => {
  const page = await fixture.browser.newPage();
  await page.goto(`${exampleOrigin}/#${fixture.service.http}`);
  await page.fill("input", "rvk_wrong");
  await page.click("button");
  await page.getByText("API key authentication is required").waitFor();
  await page.fill("input", fixture.key);
  await page.click("button");
  await page.waitForSelector("dd");
  expect(await page.textContent("dl")).toContain("availableBalance1250.50");
  expect(await page.textContent("table")).toBe("alpha0.00");
});
