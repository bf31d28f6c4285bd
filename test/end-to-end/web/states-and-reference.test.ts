/**
 * The page in Chromium when there is nothing to show, or when something is wrong; then the reference
 * page, and the example for browsers, which calls from another origin.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { rootFile } from "../../docs/markdown.ts";
import { enterKey, faultsOfLook, LOOKS, openPage } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { settled } from "./figures.ts";

/** A provider of which nothing is known. */
const EMPTY_PROVIDER = "2";
const BREAKDOWN = "**/revenue.v1.RevenueService/GetServerBreakdown";

/** Serves the example, with the service's address in it. */
const example = createServer((_, response) => {
  const html = rootFile("examples/browser/index.html");
  const text = html.replace('"http://127.0.0.1:8080"', JSON.stringify(fixture.service.http));
  response.setHeader("content-type", "text/html").end(text);
});
let exampleOrigin: string;
let fixture: WebFixture;
/**
 * One page for all tests, because it is dear to load. It shows figures, unless a test says
 * otherwise; the reference is opened from it.
 */
let page: Page;
beforeAll(async () => {
  await new Promise<void>((resolve) => example.listen(0, "127.0.0.1", resolve));
  exampleOrigin = `http://127.0.0.1:${(example.address() as AddressInfo).port}`;
  fixture = await createWebFixture(smallLedger, { CORS_ORIGINS: exampleOrigin });
  page = fixture.page;
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(async () => {
  example.close();
  await fixture?.dispose();
});

const figures = () => settled(page);
const alert = () => page.getByRole("alert");
const focused = () => page.evaluate("document.activeElement.tagName");
const keyField = () => page.getByLabel("API key", { exact: true });
const forget = () => page.getByRole("button", { name: "Forget key" }).click();

/** The requests to the service while something is done. */
async function asked(action: () => Promise<void>): Promise<string[]> {
  const requests: string[] = [];
  const note = (request: Request) => {
    const [, method] = /RevenueService\/(\w+)/.exec(request.url()) ?? [];
    if (method) requests.push(method);
  };
  page.on("request", note);
  await action();
  page.off("request", note);
  return requests;
}

it("what is no key, or a mistyped one, is told as that without a request, and stays in the field", async () => {
  const mistyped = fixture.key.slice(0, 20) + (fixture.key[20] === "x" ? "y" : "x");
  const requests = await asked(async () => {
    // The browser could not send the first, in a header.
    for (const [text, title] of [
      ["rvk_AbCd…", "This is not an API key"],
      ["\u200b", "This is not an API key"],
      [generateKey("service"), "This is a service key"],
      [mistyped + fixture.key.slice(21), "This API key is mistyped"],
    ] as const) {
      await enterKey(page, text);
      await alert().getByText(title).waitFor();
      expect(await keyField().inputValue()).toBe(text);
      expect(await focused()).toBe("INPUT");
    }
  });
  expect(requests).toEqual([]);
});

it("a key with what came along when it was copied is taken, stays in the tab, survives a reload and can be forgotten", async () => {
  for (const text of [
    `\u200e\u200b${fixture.key.slice(0, 30)}\u00ad${fixture.key.slice(30)}\u2060`,
    `"Bearer ${fixture.key}"`,
  ]) {
    await enterKey(page, text);
    await figures();
    expect(await page.evaluate("Object.values(sessionStorage)")).toEqual([fixture.key]);
    await page.reload();
    await figures();
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate("localStorage.length")).toBe(0);
    await forget();
    expect(await keyField().inputValue()).toBe("");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  }
});

it("a key that is not valid is refused once, leads back to the form, and is not kept", async () => {
  const unknown = generateKey();
  const requests = await asked(async () => {
    await enterKey(page, unknown);
    await alert().getByText("it has expired, was revoked").waitFor();
  });
  expect(requests).toEqual(["GetOverview"]);
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  expect(await keyField().inputValue()).toBe(unknown);
  await enterKey(page, fixture.key);
  await figures();
  expect(await focused()).toBe("H1");
});

it("a browser that keeps nothing, because site data is blocked, shows the figures all the same", async () => {
  const blocked = await page.context().newPage();
  await blocked.addInitScript(`for (const name of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
  }`);
  await blocked.goto(page.url());
  await enterKey(blocked, fixture.key);
  await settled(blocked);
  await blocked.close();
});

it("the calendar is that of the answer, whatever the clock of the computer says, and a new day of the service is one for all", async () => {
  // Of a context of its own, which has one clock.
  const { page: open } = await openPage(fixture.browser, fixture.service.http, "UTC");
  await open.clock.setFixedTime("2031-05-31T12:00:00Z");
  await enterKey(open, fixture.key);
  await settled(open);
  const chosen = () => open.getByLabel("To", { exact: true }).inputValue();
  const today = Temporal.Now.plainDateISO("UTC").toString();
  expect([today, Temporal.Now.plainDateISO("UTC").toString()]).toContain(await chosen());
  expect(await open.getByText("2031").count()).toBe(0);
  // The service, three days later.
  const later = Temporal.Now.plainDateISO("UTC").add({ days: 3 }).toString();
  await open.route("**/revenue.v1.RevenueService/*", async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), "data-as-of": `${later}T12:00:00.000Z` };
    await route.fulfill({ response, headers });
  });
  await open.getByRole("button", { name: "Last month" }).click();
  await open.getByText("12:00, UTC").waitFor();
  await open.getByRole("button", { name: "Last 30 days" }).click();
  expect(await chosen()).toBe(later);
  await open.unrouteAll({ behavior: "ignoreErrors" });
  await open.context().close();
});

it("a provider without a charge sees zeros on cards alone, and is told so", async () => {
  await forget();
  await enterKey(page, await fixture.issueKey(EMPTY_PROVIDER));
  await page.getByText("No payouts.").waitFor();
  await page.getByText("No earnings.").waitFor();
  await page.getByText("No servers in this period.").waitFor();
  expect(await page.locator("table").count()).toBe(0);
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  await forget();
  await enterKey(page, fixture.key);
  await figures();
});

it("what loads has its shape; without a network the figures stay, and are asked for again when there is one", async () => {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route("**/GetOverview", resolve);
  await page.reload();
  const route = await promise;
  await page.locator("#servers .blank").first().waitFor();
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  await route.continue();
  await page.unroute("**/GetOverview");
  await figures();

  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Refresh" }).click();
  await alert().getByText("The service cannot be reached").waitFor();
  expect(await page.getByText("Available balance").isVisible()).toBe(true);
  const answers = ["GetOverview", "GetDailyRevenue", "GetServerBreakdown", "ListPayouts"].map(
    (method) => page.waitForResponse(`**/${method}`),
  );
  await page.context().setOffline(false);
  await Promise.all(answers);
  await alert().waitFor({ state: "detached" });
});

it("an error says why with the id of the request, and the figures stay until the next try", async () => {
  for (const [status, code, title] of [
    [429, "resource_exhausted", "Too many requests"],
    [503, "unavailable", "The figures are temporarily unavailable"],
    [500, "internal", "Something went wrong"],
  ] as const) {
    // An hour: longer than the page waits before it tries again by itself.
    const headers = { "x-request-id": "r-7", "retry-after": "3600" };
    await page.route(BREAKDOWN, (route) =>
      route.fulfill({ status, headers, json: { code, message: "" } }),
    );
    await page.getByRole("button", { name: "This year" }).click();
    await alert().getByText(title).waitFor();
    expect(await alert().locator("code").textContent()).toBe("r-7");
    expect(await page.getByText("Rented hours").first().isVisible()).toBe(true);
    await page.unroute(BREAKDOWN);
    await page.getByRole("button", { name: "Try again" }).click();
    await alert().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Last month" }).click();
    await figures();
  }
});

it("the reference explains authentication, numbers, errors and limits, and sends requests with the key of the page or another one, which is not kept", async () => {
  await page.getByRole("link", { name: "API reference" }).click();
  for (const title of ["Authentication", "What each number means", "Errors", "Headers"]) {
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  }
  for (const language of ["curl", "TypeScript", "Python"]) {
    await page.locator("summary", { hasText: language }).click();
  }
  await page.getByText("urllib.request.build_opener").waitFor();
  await page.getByText(`export REVENUE_URL=${fixture.service.http}`).waitFor();
  const broken = await page.evaluate(`[...document.querySelectorAll(".contents a")]
    .map((link) => link.getAttribute("href"))
    .filter((target) => document.querySelectorAll(target).length !== 1)`);
  expect(broken).toEqual([]);

  const overview = page.locator("[id$=getOverview]");
  const execute = () => overview.getByRole("button", { name: "Execute" }).click();
  const answer = (text: string) => overview.locator("pre.answer").getByText(text).waitFor();
  await overview.locator(".opblock-summary-control").click();
  await overview.getByRole("button", { name: "Try it out" }).click();
  await execute();
  await answer('"pricePerHour": 2.50');
  await answer('"availableBalance": 1250.50');
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);

  await page.getByRole("button", { name: "Authorize" }).first().click();
  await page.getByRole("button", { name: "Remove authorization" }).click();
  const key = page.locator(".auth-container input").first();
  // As it comes out of a chat.
  await key.fill(`\u200b"${await fixture.issueKey(EMPTY_PROVIDER)}"`);
  await key.press("Enter");
  await page.getByRole("button", { name: "Close" }).first().click();
  await execute();
  await answer('"availableBalance": 0.00');
  expect(await page.evaluate("localStorage.length")).toBe(0);
});

it("the example for browsers shows the very digits, and the message of an error", async () => {
  const page = await fixture.browser.newPage();
  await page.goto(exampleOrigin);
  await page.fill("input", "rvk_wrong");
  await page.click("button");
  await page.getByText("API key authentication is required").waitFor();
  await page.fill("input", fixture.key);
  await page.click("button");
  await page.waitForSelector("dd");
  expect(await page.textContent("dl")).toContain("availableBalance1250.50");
  expect(await page.textContent("table")).toBe("alpha0.00");
});
