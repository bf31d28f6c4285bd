/** The reference page in Chromium. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import { accessibilityFaults, enterKey, openPage } from "../../support/browser/watched-page.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let browser: Browser;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([createFixture(smallLedger), startBrowser()]);
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
});

it("explains authentication, numbers, errors and limits, with complete programs", async () => {
  const { page, faults, close } = await openPage(browser, `${fixture.service.http}/docs`);
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
  expect(faults).toEqual([]);
  await close();
});

it("sends a request with a key, and shows the answer with the digits of the service", async () => {
  const { page, faults, close } = await openPage(browser, `${fixture.service.http}/docs`);
  await page.getByRole("button", { name: "Authorize" }).first().click();
  await page
    .getByLabel("auth-bearer-value")
    .or(page.locator(".auth-container input"))
    .first()
    .fill(fixture.key);
  await page.locator(".auth-container button[type=submit]").first().click();
  await page.getByRole("button", { name: "Close" }).first().click();
  await page.locator("[id$=getOverview] .opblock-summary-control").click();
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  const answer = page.locator("pre.answer").first();
  await answer.getByText('"pricePerHour": 2.50').waitFor();
  await answer.getByText('"availableBalance": 1250.50').waitFor();
  expect(await page.evaluate("localStorage.length")).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("uses the key that was entered on the other page", async () => {
  const { page, faults, close } = await openPage(browser, `${fixture.service.http}/`);
  await enterKey(page, fixture.key);
  await page.getByRole("link", { name: "API reference" }).click();
  await page.locator("[id$=getServerBreakdown] .opblock-summary-control").click();
  await page.getByRole("button", { name: "Try it out" }).click();
  await page.getByRole("button", { name: "Execute" }).click();
  await page.locator("pre.answer").first().getByText('"totalServers": 1').waitFor();
  expect(faults).toEqual([]);
  await close();
});

it.each([
  { width: 1440, colorScheme: "light" },
  { width: 1440, colorScheme: "dark" },
  { width: 360, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
] as const)(
  "at $width pixels, $colorScheme, axe finds nothing, and nothing is cut off",
  async ({ width, colorScheme }) => {
    const look = { viewport: { width, height: 900 }, colorScheme };
    const { page, faults, close } = await openPage(browser, `${fixture.service.http}/docs`, look);
    await page.locator("[id$=getServerBreakdown] .opblock-summary-control").click();
    await page.getByRole("button", { name: "Try it out" }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(faults).toEqual([]);
    await close();
  },
);
