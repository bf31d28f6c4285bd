/**
 * The page in Chromium when there is nothing to show, or when something is wrong; then the reference
 * page, and the example for browsers, which calls from another origin.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page, Request, Response, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { rootFile } from "../../docs/markdown.ts";
import { enterKey, faultsOfLook, LOOKS } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

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

const figures = () => page.getByText("Rentals running now").waitFor();
const alert = () => page.getByRole("alert");
const focused = () => page.evaluate("document.activeElement.tagName");
const keyField = () => page.getByLabel("API key", { exact: true });

it("what is no key is told as that, without a request, and stays in the field", async () => {
  const asked: string[] = [];
  const note = (request: Request) =>
    request.url().includes("/revenue.") && asked.push(request.url());
  page.on("request", note);
  // The browser could not send the first, in a header.
  for (const text of ["rvk_AbCd…", "Bearer", "\u200b"]) {
    await enterKey(page, text);
    await alert().getByText("This is not an API key").waitFor();
    expect(await keyField().inputValue()).toBe(text);
    expect(await focused()).toBe("INPUT");
  }
  page.off("request", note);
  expect(asked).toEqual([]);
});

it.each([
  [
    "with characters that nobody sees",
    (key: string) => `\u200e\u200b${key.slice(0, 30)}\u00ad${key.slice(30)}\u2060`,
  ],
  ["in quotes", (key: string) => `"${key}"`],
  ["after its scheme", (key: string) => `Bearer ${key}`],
])("a key %s is taken", async (_, textOf) => {
  await enterKey(page, textOf(fixture.key));
  await figures();
  expect(await page.evaluate("Object.values(sessionStorage)")).toEqual([fixture.key]);
  await page.getByRole("button", { name: "Forget key" }).click();
});

it("a key that is not valid is refused once, leads back to the form, and is not kept", async () => {
  const refused: string[] = [];
  const note = (response: Response) => response.status() === 401 && refused.push(response.url());
  page.on("response", note);
  const revoked = generateKey();
  await enterKey(page, revoked);
  await alert().getByText("This API key is not valid").waitFor();
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  // To be corrected, not to be typed again.
  expect(await keyField().inputValue()).toBe(revoked);
  expect(await focused()).toBe("INPUT");
  await enterKey(page, fixture.key);
  await figures();
  expect(await focused()).toBe("H1");
  page.off("response", note);
  expect(refused).toEqual([expect.stringContaining("/GetOverview")]);
});

it("the key stays in the tab: it survives a reload, is in no cookie or local storage, and can be forgotten", async () => {
  await page.reload();
  await figures();
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("button", { name: "Forget key" }).click();
  expect(await keyField().inputValue()).toBe("");
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("a browser that keeps nothing, because site data is blocked, shows the figures all the same", async () => {
  const blocked = await page.context().newPage();
  await blocked.addInitScript(`for (const name of ["sessionStorage", "localStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
  }`);
  await blocked.goto(page.url());
  await enterKey(blocked, fixture.key);
  await blocked.getByText("Rentals running now").waitFor();
  await blocked.getByRole("button", { name: "UTC", exact: true }).click();
  await blocked.getByText("Rentals running now").waitFor();
  await blocked.close();
});

it("a page that stays open past midnight asks for the new day when it is refreshed, and not before", async () => {
  // Of a context of its own, which has one clock.
  const context = await page.context().browser()?.newContext({ timezoneId: "America/New_York" });
  if (context === undefined) throw new Error("expected a browser");
  const open = await context.newPage();
  const asked: string[] = [];
  open.on("request", (request) => {
    const isDaily = request.url().includes("GetDailyRevenue");
    if (isDaily) asked.push(decodeURIComponent(request.url() + (request.postData() ?? "")));
  });
  await open.goto(page.url());
  await enterKey(open, fixture.key);
  await open.getByText("Rentals running now").waitFor();
  const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000);
  await open.clock.setFixedTime(dayAfter(3));
  await open.getByRole("button", { name: "UTC", exact: true }).click();
  await expect.poll(() => asked.length).toBe(2);
  await open.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(() => asked.length).toBe(3);
  const isOfThatDay = asked.map((request) =>
    request.includes(dayAfter(3).toISOString().slice(0, 10)),
  );
  expect(isOfThatDay).toEqual([false, false, true]);
  await context.close();
});

it("a provider without a charge sees zeros on cards alone, and is told so", async () => {
  await enterKey(page, await fixture.issueKey(EMPTY_PROVIDER));
  await page.getByText("No servers yet.").waitFor();
  await page.getByText("No payouts yet.").waitFor();
  await page.getByText("No earnings in these 12 months.").waitFor();
  await page.getByText("No charges in these days.").waitFor();
  await page.getByText("No servers in this period.").waitFor();
  expect(await page.locator("table, details tr").count()).toBe(0);
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
  await page.getByRole("button", { name: "Forget key" }).click();
  await enterKey(page, fixture.key);
  await figures();
});

it("a period that ends before it starts, or lacks a day, is not asked for", async () => {
  await page.getByText("Other days").click();
  await page.getByLabel("To").fill("2026-03-01");
  await figures();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByLabel("From").fill("2026-03-02");
  await alert().getByText("The first day is after the last day.").waitFor();
  await page.getByLabel("From").fill("");
  await alert().getByText("Choose both days.").waitFor();
  expect(requests).toEqual([]);
  await page.getByRole("button", { name: "This month" }).click();
  await figures();
  expect(await alert().count()).toBe(0);
});

it("without a network the figures stay, and one button brings all of them up to date", async () => {
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Refresh" }).click();
  await alert().getByText("The service cannot be reached").waitFor();
  await page.locator("section[aria-busy=true]").first().waitFor({ state: "detached" });
  expect(await page.getByText("Available balance").isVisible()).toBe(true);
  await page.context().setOffline(false);
  const answers = ["GetOverview", "GetDailyRevenue", "GetServerBreakdown"].map((method) =>
    page.waitForResponse(`**/${method}`),
  );
  await page.getByRole("button", { name: "Try again" }).click();
  await Promise.all(answers);
  await alert().waitFor({ state: "detached" });
});

it("a call that waits says that it loads, and then that it still does", async () => {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route(BREAKDOWN, resolve);
  const slow = page.getByText("Still loading …").waitFor();
  // For two seconds only: the browser looks for it before the click.
  await Promise.all([
    page.locator("#period").getByText("Loading …").waitFor(),
    page.getByRole("button", { name: "Last month" }).click(),
  ]);
  await slow;
  await (await promise).continue();
  await page.unroute(BREAKDOWN);
  await figures();
});

it.each([
  [429, "resource_exhausted", "Too many requests"],
  [503, "unavailable", "The figures are temporarily unavailable"],
  [500, "internal", "Something went wrong"],
])(
  "an error %d, %s, says why with the id of the request, and the figures stay until the next try",
  async (status, code, title) => {
    // An hour: longer than the page waits before it tries again by itself.
    const headers = { "x-request-id": "r-7", "retry-after": "3600" };
    await page.route(BREAKDOWN, (route) =>
      route.fulfill({ status, headers, json: { code, message: "" } }),
    );
    await page.getByRole("button", { name: "This month" }).click();
    await alert().getByText(title).waitFor();
    expect(await alert().locator("code").textContent()).toBe("r-7");
    await figures();
    await page.unroute(BREAKDOWN);
    await page.getByRole("button", { name: "Try again" }).click();
    await alert().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Last month" }).click();
    await figures();
  },
);

it("a button of a page that is open since yesterday chooses a period of today", async () => {
  const other = await fixture.browser.newPage({ timezoneId: "UTC" });
  await other.clock.setFixedTime("2030-05-31T23:59:00Z");
  await other.goto(fixture.service.http);
  await enterKey(other, fixture.key);
  await other.getByText("Rentals running now").waitFor();
  await other.clock.setFixedTime("2030-06-01T00:01:00Z");
  await other.getByRole("button", { name: "This month" }).click();
  const days = ["From", "To"].map((label) => other.getByLabel(label).inputValue());
  expect(await Promise.all(days)).toEqual(["2030-06-01", "2030-06-01"]);
  await other.close();
});

describe("the reference", () => {
  it("explains authentication, numbers, errors and limits, with complete programs", async () => {
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
  });

  const overview = () => page.locator("[id$=getOverview]");
  const execute = () => overview().getByRole("button", { name: "Execute" }).click();
  const answer = (text: string) => overview().locator("pre.answer").getByText(text).waitFor();

  it("sends a request with the key of the other page, and shows the digits of the service", async () => {
    await overview().locator(".opblock-summary-control").click();
    await overview().getByRole("button", { name: "Try it out" }).click();
    await execute();
    await answer('"pricePerHour": 2.50');
    await answer('"availableBalance": 1250.50');
  });

  it("has no finding of axe, wide and light or narrow and dark, and nothing is cut off", async () => {
    for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  });

  it("sends a request with another key, which is not kept", async () => {
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
