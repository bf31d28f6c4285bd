/** The page in Chromium when there is nothing to show, or when something is wrong. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { BROWSER_TIMEOUT } from "../../support/browser/chromium.ts";
import {
  accessibilityFaults,
  enterKey,
  openPage,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A provider of which nothing is known. */
const EMPTY_PROVIDER = "2";

let fixture: WebFixture;
/** One page for all tests of the same service. */
let shared: WatchedPage;
beforeAll(async () => {
  fixture = await createWebFixture(smallLedger);
  shared = await fixture.open("/");
}, BROWSER_TIMEOUT);
afterEach(() => {
  expect(shared.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

/** Shows the form, as in a new tab, and enters a key. */
async function enter(key: string): Promise<Page> {
  const { page } = shared;
  await page.evaluate("sessionStorage.clear()");
  await page.reload();
  await enterKey(page, key);
  return page;
}

/** Opens the page of another service with the key. */
async function openAt(service: ServiceProcess): Promise<WatchedPage> {
  const watched = await openPage(fixture.browser, `${service.http}/`);
  await enterKey(watched.page, fixture.key);
  return watched;
}

it("a key that is not valid is refused once, leads back to the form, and is not kept", async () => {
  const refused: string[] = [];
  shared.page.on("response", (response) => {
    if (response.status() === 401) refused.push(response.url());
  });
  const page = await enter("rvk_wrong");
  await page.getByRole("alert").getByText("This API key is not valid").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await enterKey(page, fixture.key);
  await page.getByText("Available balance").waitFor();
  expect(refused).toEqual([expect.stringContaining("/GetOverview")]);
});

it("a provider without servers sees zeros and says so", async () => {
  const page = await enter(await fixture.issueKey(EMPTY_PROVIDER));
  await page.getByText("No servers yet.").waitFor();
  await page.getByText("No payouts yet.").waitFor();
  await page.getByText("No earnings in these 12 months.").waitFor();
  await page.getByText("No servers in this period.").waitFor();
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
  expect(await accessibilityFaults(page)).toEqual([]);
});

it("a period that ends before it starts, or lacks a day, is not asked for", async () => {
  const page = await enter(fixture.key);
  await page.getByText("Rentals running now").waitFor();
  await page.getByLabel("To").fill("2026-03-01");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByLabel("From").fill("2026-03-02");
  await page.getByRole("alert").getByText("The first day is after the last day.").waitFor();
  await page.getByLabel("From").fill("");
  await page.getByRole("alert").getByText("Choose both days.").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(requests).toEqual([]);
  await page.getByRole("button", { name: "This month" }).click();
  await page.getByText("Rentals running now").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

it("without a network the figures stay, and come back with it", async () => {
  const page = await enter(fixture.key);
  await page.getByText("Rentals running now").waitFor();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Refresh" }).click();
  // The overview and the breakdown may each have a notice.
  const notice = page.getByRole("alert").getByText("The service cannot be reached");
  await notice.first().waitFor();
  expect(await page.getByText("Available balance").isVisible()).toBe(true);
  await page.context().setOffline(false);
  await until(30_000, async () => {
    const again = page.getByRole("button", { name: "Try again" }).first();
    if (await again.isVisible()) await again.click({ timeout: 1_000 }).catch(() => {});
    return (await page.getByRole("alert").count()) === 0;
  });
});

it("while a call waits the page says that it loads, and a second one that is refused says why", async () => {
  const service = await startService(fixture.database.url, {
    MAX_CALLS_PER_PROVIDER: "1",
    MAX_CALL_MS: "25000",
  });
  onTestFinished(() => void service.stop());
  const { page, faults } = await openAt(service);
  await page.getByText("Rentals running now").waitFor();
  await using lock = await lockTable(fixture.database, "charges");
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("Loading …").first().waitFor();
  await lock.waitForQueries(1, 20_000);
  await page.getByText("The service does not answer yet, trying again").first().waitFor();
  // One call waits for the table; the other one is repeated three times.
  await page.getByRole("button", { name: "Last month" }).click();
  await page.getByRole("alert").getByText("Too many requests").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await lock.release();
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.getByText("Rentals running now").waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});

it("while the database is away the page says so, with the id of the request, until it is back", async () => {
  const proxy = await startDatabaseProxy(fixture.database.url);
  onTestFinished(() => proxy.close());
  const service = await startService(proxy.url);
  onTestFinished(() => void service.stop());
  proxy.route("mysql://127.0.0.1:1/gone");
  const { page, faults } = await openAt(service);
  const notice = page.getByRole("alert").first();
  await notice.getByText("The figures are temporarily unavailable").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  const id = await notice.locator("code").textContent();
  expect(await service.logOf(id ?? "")).not.toEqual([]);
  proxy.route(fixture.database.url);
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.getByText("Available balance").waitFor();
  expect(faults).toEqual([]);
});
