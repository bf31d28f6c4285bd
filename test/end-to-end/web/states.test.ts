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
import {
  enterKey,
  faultsOfLook,
  NARROW,
  openPage,
  settled,
  WIDE,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A provider of which nothing is known. */
const EMPTY_PROVIDER = "2";
const CALLS = ["GetOverview", "GetDailyRevenue", "GetServerBreakdown", "ListPayouts"];

/** Serves the example, with the service's address in it. */
const example = createServer((_, response) => {
  const html = rootFile("examples/browser/index.html");
  const text = html.replace('"http://127.0.0.1:8080"', JSON.stringify(fixture.service.http));
  response.setHeader("content-type", "text/html").end(text);
});
let exampleOrigin: string;
let fixture: WebFixture;
/** One page for all tests. It shows figures between them; the reference is opened from it. */
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

const alert = () => page.getByRole("alert");
const focused = () => page.evaluate("document.activeElement.tagName");
const keyField = () => page.getByLabel("API key", { exact: true });
const click = (name: string) => page.getByRole("button", { name, exact: true }).first().click();

/** What the page asks for while something is done: calls by their names, files by their paths. */
async function asked(action: () => Promise<void>): Promise<string[]> {
  const requests: string[] = [];
  const note = (request: Request) => {
    requests.push(
      request
        .url()
        .replace(/.*RevenueService\//, "")
        .replace(fixture.url, "/"),
    );
  };
  page.on("request", note);
  await action();
  page.off("request", note);
  return requests;
}

it("what is no key is told as that without a request, and stays in the field", async () => {
  const requests = await asked(async () => {
    // The browser could not send it, in a header.
    await enterKey(page, "rvk_AbCd…");
    await alert().getByText("This is not an API key").waitFor();
  });
  expect([requests, await keyField().inputValue(), await focused()]).toEqual([
    [],
    "rvk_AbCd…",
    "INPUT",
  ]);
});

it("a key that is not valid is refused once, leads back to the form, and is not kept", async () => {
  const unknown = generateKey();
  const requests = await asked(async () => {
    await enterKey(page, unknown);
    await alert().getByText("it has expired, was revoked").waitFor();
  });
  expect(requests).toEqual(["GetOverview"]);
  expect(await faultsOfLook(page, WIDE)).toEqual([]);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  expect(await keyField().inputValue()).toBe(unknown);
});

it("a key with what came along when it was copied is taken, stays in the tab, survives a reload and can be forgotten", async () => {
  await enterKey(page, `\u200e"Bearer ${fixture.key.slice(0, 30)}\u00ad${fixture.key.slice(30)}"`);
  await settled(page);
  expect(await focused()).toBe("H1");
  await page.getByText(`Key …${fixture.key.slice(-4)}`).waitFor();
  expect(await page.evaluate("Object.values(sessionStorage)")).toEqual([fixture.key]);
  const requests = await asked(async () => {
    await page.reload();
    await settled(page);
  });
  // One file: in a rollout the next one may come from a version that has no other.
  expect(requests.toSorted()).toEqual(["/?zone=America%2FNew_York", ...CALLS.toSorted()]);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await click("Forget key");
  expect(await keyField().inputValue()).toBe("");
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("the calendar is that of the answer, whatever the clock of the computer says, and a new day of the service is one for all", async () => {
  // Of a context of its own, which has one clock.
  const { page: open } = await openPage(fixture.browser, fixture.url, "UTC");
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
  await enterKey(page, await fixture.issueKey(EMPTY_PROVIDER));
  for (const text of ["No payouts.", "No earnings.", "No servers in this period."]) {
    await page.getByText(text).waitFor();
  }
  expect(await page.locator("table").count()).toBe(0);
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await click("Forget key");
});

it("what loads has its shape; without a network the figures stay, and are asked for again when there is one", async () => {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route("**/GetOverview", resolve);
  await enterKey(page, fixture.key);
  const route = await promise;
  await page.locator("#servers .blank").first().waitFor();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await route.continue();
  await page.unroute("**/GetOverview");
  await settled(page);

  await page.context().setOffline(true);
  await click("Refresh");
  await alert().getByText("The service cannot be reached").waitFor();
  expect(await page.getByText("Available balance").isVisible()).toBe(true);
  const answers = CALLS.map((method) => page.waitForResponse(`**/${method}`));
  await page.context().setOffline(false);
  await Promise.all(answers);
  await alert().waitFor({ state: "detached" });
});

it("an error says why with the id of the request, and the figures stay until the next try", async () => {
  // An hour: longer than the page waits before it tries again by itself.
  const headers = { "x-request-id": "r-7", "retry-after": "3600" };
  await page.route("**/GetServerBreakdown", (route) =>
    route.fulfill({ status: 503, headers, json: { code: "unavailable", message: "" } }),
  );
  await click("This year");
  await alert().getByText("The figures are temporarily unavailable").waitFor();
  expect(await alert().locator("code").textContent()).toBe("r-7");
  expect(await page.getByText("Rented hours").first().isVisible()).toBe(true);
  await page.unroute("**/GetServerBreakdown");
  await click("Try again");
  await alert().waitFor({ state: "detached" });
});

it("a curl command of an export gives the same figures below the path of a proxy, and does not have the key", async () => {
  await page.locator("#payouts").getByRole("button", { name: "Export" }).click();
  const command = `${await page.locator("#export-payouts pre").textContent()}`;
  expect(command).toContain(`'${fixture.url}api/provider/revenue/payouts'`);
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const { stdout } = await runProgram("sh", ["-c", `${command} --silent`], { env });
  expect(stdout).toContain('"amount":4000.00');
  await page.keyboard.press("Escape");
});

it("the reference sends requests with the key of the page or another one, which is not kept, and shows the very digits", async () => {
  const requests = await asked(async () => {
    await page.goto(`${fixture.url}docs/`);
    await page.locator("[id$=getOverview]").waitFor();
  });
  expect(requests.slice(1)).toEqual(["/docs", "/openapi.json"]);
  await page.getByText(`export REVENUE_URL=${fixture.url.slice(0, -1)}`).waitFor();
  const overview = page.locator("[id$=getOverview]");
  const execute = () => overview.getByRole("button", { name: "Execute" }).click();
  const answer = (text: string) => overview.locator("pre.answer").getByText(text).waitFor();
  await overview.locator(".opblock-summary-control").click();
  await overview.getByRole("button", { name: "Try it out" }).click();
  await execute();
  await answer('"pricePerHour": 2.50');
  expect(await faultsOfLook(page, NARROW)).toEqual([]);

  await click("Authorize");
  await click("Remove authorization");
  const key = page.locator(".auth-container input").first();
  // As it comes out of a chat.
  await key.fill(`\u200b"${await fixture.issueKey(EMPTY_PROVIDER)}"`);
  await key.press("Enter");
  await click("Close");
  await execute();
  await answer('"availableBalance": 0.00');
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("link", { name: "Your revenue" }).first().click();
  await settled(page);
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
