/** The page in Chromium when there is nothing to show, or when something is wrong. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import {
  accessibilityFaults,
  enterKey,
  openPage,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { until } from "../../support/poll.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";
import { startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";

const EMPTY_PROVIDER = 99;

let fixture: Fixture;
let browser: Browser;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([
    createFixture(async ({ knex }) => {
      await seed(knex, Date.now(), () => undefined);
      await knex("providers").insert({ id: EMPTY_PROVIDER, name: "empty" });
    }),
    startBrowser(),
  ]);
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
});

let watched: WatchedPage;
afterEach(async () => {
  expect(await accessibilityFaults(watched.page)).toEqual([]);
  expect(watched.faults).toEqual([]);
  await watched.close();
});

async function open(url: string, key: string): Promise<Page> {
  watched = await openPage(browser, `${url}/`);
  await enterKey(watched.page, key);
  return watched.page;
}

it("a key that is not valid is refused once, leads back to the form, and is not kept", async () => {
  watched = await openPage(browser, `${fixture.service.http}/`);
  const { page } = watched;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 401) refused.push(response.url());
  });
  await enterKey(page, "rvk_wrong");
  await page.getByRole("alert").getByText("This API key is not valid").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await enterKey(page, fixture.key);
  await page.getByText("Available balance").waitFor();
  expect(refused).toEqual([expect.stringContaining("/GetOverview")]);
});

it("a provider without servers sees zeros and says so", async () => {
  const page = await open(fixture.service.http, await fixture.issueKey(`${EMPTY_PROVIDER}`));
  await page.getByText("No servers yet.").waitFor();
  await page.getByText("No payouts yet.").waitFor();
  await page.getByText("No earnings in these 12 months.").waitFor();
  await page.getByText("No servers in this period.").waitFor();
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
});

it("a period that ends before it starts, or lacks a day, is not asked for", async () => {
  const page = await open(fixture.service.http, fixture.key);
  await page.getByText("Rentals running now").waitFor();
  await page.getByLabel("To").fill("2026-03-01");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByLabel("From").fill("2026-03-02");
  await page.getByRole("alert").getByText("The first day is after the last day.").waitFor();
  await page.getByLabel("From").fill("");
  await page.getByRole("alert").getByText("Choose both days.").waitFor();
  expect(requests).toEqual([]);
  await page.getByRole("button", { name: "This month" }).click();
  await page.getByText("Rentals running now").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

it("while a call waits the page says that it loads, and a second one that is refused says why", async () => {
  const service = await startService(fixture.database.url, { MAX_CALLS_PER_PROVIDER: "1" });
  onTestFinished(() => void service.stop());
  const page = await open(service.http, fixture.key);
  await page.getByText("Rentals running now").waitFor();
  await using lock = await lockTable(fixture.database, "charges");
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("Loading …").first().waitFor();
  await lock.waitForQueries(1);
  await page.getByText("The service does not answer yet, trying again").first().waitFor();
  // One call waits for the table; the other one is repeated three times.
  await page.getByRole("button", { name: "Last month" }).click();
  await page.getByRole("alert").getByText("Too many requests").waitFor();
  await lock.release();
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.getByText("Available balance").waitFor();
  await page.getByText("Rentals running now").waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
});

it("without a network the figures stay, and come back with it", async () => {
  const page = await open(fixture.service.http, fixture.key);
  await page.getByText("Available balance").waitFor();
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

describe.skipIf(process.env.DATABASE_URL)("while the database is away", () => {
  let own: PrivateFixture;
  beforeAll(async () => {
    own = await createPrivateFixture();
    await own.server.kill();
  });
  afterAll(() => own?.dispose());

  it("the page says so, with the id of the request, until the database is back", async () => {
    const page = await open(own.service.http, own.key);
    const notice = page.getByRole("alert").first();
    await notice.getByText("The figures are temporarily unavailable").waitFor();
    const id = await notice.locator("code").textContent();
    expect(await own.service.logOf(id ?? "")).not.toEqual([]);
    await own.server.start();
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByText("Available balance").waitFor();
  });
});
