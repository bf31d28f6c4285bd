/** The days on the page in Chromium: bars, choice of days, table and CSV. */
import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ListDailyRevenueRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import * as watchedPage from "../../support/browser/watched-page.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const METHOD = "**/revenue.v1.RevenueService/ListDailyRevenue";
const today = Temporal.Now.plainDateISO("UTC");
const daysAgo = (days: number) => today.subtract({ days }).toString();

/** Charges of days: two a week have none, one has refunds alone, one is larger than all others. */
const charges = Array.from({ length: 400 }, (_, days) => ({
  ...{ provider_id: 1, server_id: 1, charged_at: `${daysAgo(days)} 00:00:00.000` },
  gross: { 2: "-80.05", 5: "1234567.89" }[days] ?? `${100 + days}.${10 + (days % 90)}`,
})).filter((_, days) => ![3, 4].includes(days % 7));

let fixture: Fixture;
let browser: Browser;
beforeAll(async () => {
  const fill: Parameters<typeof createFixture>[0] = async (database) => {
    await smallLedger(database);
    await database.knex("servers").update({ name: "a-name-without-a-space".repeat(10) });
    await database.knex("charges").insert(charges);
  };
  [fixture, browser] = await Promise.all([createFixture(fill), startBrowser()]);
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
});

let watched: watchedPage.WatchedPage;
let page: Page;
let card: Locator;
let rows: Locator;
beforeEach(async () => {
  watched = await watchedPage.openPage(browser, `${fixture.service.http}/`);
  page = watched.page;
  const table = page.getByRole("table", { name: "Revenue per day" });
  card = page.locator("section.card", { has: table });
  rows = table.locator("tbody tr");
  await watchedPage.enterKey(page, fixture.key);
  await table.waitFor();
});
afterEach(async () => {
  expect(watched.faults).toEqual([]);
  await watched.close();
});

async function rest(count: number, accept = "application/json"): Promise<string> {
  const query = `startDate=${daysAgo(count - 1)}&endDate=${today}`;
  const url = `${fixture.service.http}/api/provider/revenue/daily?${query}`;
  return (await fetch(url, { headers: { "x-api-key": fixture.key, accept } })).text();
}

/** The days of REST, oldest first: every digit as a row of the table, and what is said of the bar. */
async function restDays(count: number) {
  const day = /"date":"(.*?)",.*?:(.*?),.*?:(.*?),.*?:(.*?),.*?:(.*?)}/g;
  const [, days = ""] = (await rest(count)).split('"days":');
  return Array.from(days.matchAll(day), ([, date = "", gross, fees, earnings, number]) => {
    const words = Temporal.PlainDate.from(date).toLocaleString("en-GB", { dateStyle: "long" });
    return { row: [date, earnings, fees, gross, number], bar: `${words} ${earnings}` };
  });
}

const choose = (count: number) =>
  page.getByRole("button", { name: `${count} days`, exact: true }).click();
const shown = (count: number) => expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(count);
const shownBar = () => card.locator(".chosen p").textContent();

it.each([7, 30, 90, 365])("%d days end today, with the digits of REST", async (count) => {
  await shown(30);
  if (count === 30) {
    await choose(7);
    await shown(7);
  }
  const [request] = await Promise.all([page.waitForRequest(METHOD), choose(count)]);
  const message = request.postDataBuffer() ?? new Uint8Array();
  const { startDate, endDate } = fromBinary(ListDailyRevenueRequestSchema, message);
  expect([startDate, endDate]).toEqual([daysAgo(count - 1), `${today}`]);
  await shown(count);
  const cells = await rows.locator("th, td").allTextContents();
  expect(cells).toEqual((await restDays(count)).reverse().flatMap(({ row }) => row));

  const button = card.getByRole("button", { name: "Download CSV" });
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  expect(file.suggestedFilename()).toBe(`revenue-per-day_${startDate}_${endDate}.csv`);
  expect(readFileSync(await file.path(), "utf8")).toBe(await rest(count, "text/csv"));
});

it("each bar tells its day and amount by keyboard", async () => {
  const slider = card.getByRole("slider", { name: "Day" });
  await slider.focus();
  await page.keyboard.press("Home");
  for (const { bar } of await restDays(30)) {
    expect(await shownBar()).toBe(bar);
    const spoken = await slider.getAttribute("aria-valuetext");
    expect(spoken?.replaceAll(/[:$,]/g, "")).toBe(bar);
    await page.keyboard.press("ArrowRight");
  }
});

it("each bar tells its day and amount under the pointer, and one of refunds is red", async () => {
  await choose(7);
  await shown(7);
  const canvas = card.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await canvas.boundingBox()) ?? expect.fail("no chart");
  const seen = new Set<string | null>();
  for (let part = 0.06; part < 1; part += 0.02) {
    await page.mouse.move(x + width * part, y + height / 2);
    seen.add(await shownBar());
  }
  expect([...seen].sort()).toEqual((await restDays(7)).map(({ bar }) => bar).sort());
  const reds = await page.evaluate(`(({ width, height }, context) =>
    context.getImageData(0, 0, width, height).data
      .filter((red, at, all) => at % 4 === 0 && red === 0xa3 && all[at + 1] === 0x23).length
  )(...[...document.querySelectorAll("canvas")].slice(1).flatMap((c) => [c, c.getContext("2d")]))`);
  expect(reds).toBeGreaterThan(10);
});

it("an error of the service keeps the days that were shown, until the next try", async () => {
  const before = await rows.allTextContents();
  const error = { status: 500, json: { code: "internal", message: "" } };
  await page.route(METHOD, (route) => route.fulfill(error));
  await choose(7);
  const notice = page.getByRole("alert");
  await notice.getByText("Something went wrong").waitFor();
  expect(await rows.allTextContents()).toEqual(before);
  await page.unroute(METHOD);
  await notice.getByRole("button", { name: "Try again" }).click();
  await shown(7);
  await notice.waitFor({ state: "detached" });
});

it.each([1440, 360])(
  "at %d pixels axe finds nothing, and nothing scrolls sideways",
  async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await page.getByRole("button", { name: "Expand all" }).click();
    for (const count of [7, 365, 30]) {
      await choose(count);
      await shown(count);
      const wide = await page.evaluate(`[...document.querySelectorAll("*:not(.hidden)")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .filter((element) => getComputedStyle(element).display !== "inline")
      .map((element) => element.outerHTML.slice(0, 100))`);
      expect(wide).toEqual([]);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await watchedPage.accessibilityFaults(page)).toEqual([]);
    }
  },
);
