/**
 * The page in Chromium in time zones: its days, its figures, and that UTC is one click away. Then more
 * payouts than it asks for at once.
 */
import type { Knex } from "knex";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  enterKey,
  faultsOfLook,
  LOOKS,
  openPage,
  tooNarrow,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { dayName, type Period, restDays, restText } from "./rest-days.ts";

const HOUR = 3_600_000;
/** The time of the pages, so that no day begins during a test. */
const NOW = Date.now();
/** More than the page asks for at once. */
const PAYOUTS = 1_005;

/** A charge for each hour of 70 days, with refunds among them, and a rental; payouts at all times of the day. */
async function addHours(knex: Knex): Promise<void> {
  const of = { provider_id: 1, server_id: 1, instance_id: 1 };
  const charges = Array.from({ length: 70 * 24 }, (_, hour) => {
    const gross = hour % 7 === 0 ? `-${hour % 13}.05` : `${hour}.25`;
    return { ...of, charged_at: new Date(NOW - hour * HOUR), gross };
  });
  await knex.batchInsert("charges", charges, 1_000);
  await knex("rentals").insert({
    ...of,
    started_at: new Date(NOW - 1_000 * HOUR),
    ended_at: new Date(NOW - HOUR),
  });
  const payout = { provider_id: 1, method: "Bank Transfer", status: "Completed" };
  const payouts = Array.from({ length: PAYOUTS - 1 }, (_, nth) => {
    const paid = { paid_at: new Date(NOW - nth * 5 * HOUR), amount: `${nth}.50` };
    return { ...payout, ...paid, public_id: `paid-${nth}` };
  });
  await knex.batchInsert("payouts", payouts, 1_000);
}

let fixture: WebFixture;
beforeAll(async () => {
  fixture = await createWebFixture(async (database) => {
    await smallLedger(database);
    await addHours(database.knex);
  });
});
afterAll(() => fixture?.dispose());

/** Opens the page in a zone, with figures. */
async function openIn(timezoneId: string): Promise<WatchedPage> {
  const watched = await openPage(fixture.browser, fixture.service.http, timezoneId);
  await watched.page.clock.setFixedTime(NOW);
  await enterKey(watched.page, fixture.key);
  await settled(watched.page);
  return watched;
}

async function settled(page: Page): Promise<void> {
  await page.getByText("Rentals running now").waitFor();
  await page.locator("section[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** The last 30 days of a zone. */
function lastDays(timeZone: string): Period {
  const now = Temporal.Instant.fromEpochMilliseconds(NOW);
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  return [today.subtract({ days: 29 }).toString(), today.toString()];
}

/** Waits until a section shows a period. */
async function shows(page: Page, section: string, [first, last]: Period, timeZone: string) {
  const text = `${dayName(first)} – ${dayName(last)}, ${timeZone}`;
  await page.locator(section).getByText(text, { exact: true }).waitFor();
}

const cellsOf = (page: Page, table: string) =>
  page
    .getByRole("table", { name: table, exact: true, includeHidden: true })
    .locator("tbody :is(th, td)")
    .allTextContents();

/** The dates of the payouts of the overview. */
async function paidDays(timeZone: string): Promise<string[]> {
  const { recentPayouts } = JSON.parse(await restText(fixture, "/api/provider/revenue"));
  return recentPayouts.map(({ date }: { date: string }) =>
    dayName(Temporal.Instant.from(date).toZonedDateTimeISO(timeZone).toPlainDate().toString()),
  );
}

/** Gross revenue, refunds and rented hours of the only server in a period, as REST has them. */
async function serverFigures([startDate, endDate]: Period, timeZone: string): Promise<string[]> {
  const query = new URLSearchParams({ startDate, endDate, timeZone });
  const json = await restText(fixture, `/api/provider/revenue/servers?${query}`);
  const [, server = ""] = json.split('"servers":');
  // The totals come before the servers, the instances inside of them.
  const own = server.replace(/\[{"instanceId".*?\]/, "");
  const digitsOf = (field: string) => new RegExp(`"${field}":([-\\d.]+)`).exec(own)?.[1] ?? "";
  return ["totalRevenue", "refunds", "rentedHours"].map(digitsOf);
}

/** Compares what the page shows of the last days, of payouts and of the server with the service. */
async function expectFigures(page: Page, timeZone: string): Promise<void> {
  const period = lastDays(timeZone);
  await shows(page, "#days", period, timeZone);
  const days = (await restDays(fixture, period, timeZone)).toReversed();
  expect(await cellsOf(page, "Revenue per day")).toEqual(days.flatMap(({ row }) => row));
  const paid = page.getByRole("table", { name: "Latest payouts" }).locator("tbody th");
  expect(await paid.allTextContents()).toEqual((await paidDays(timeZone)).slice(0, 5));
}

describe.each(["Asia/Kolkata", "Pacific/Kiritimati", "America/Los_Angeles"])("in %s", (zone) => {
  let watched: WatchedPage;
  let page: Page;
  /** The name that the browser has for the zone. */
  let name: string;
  beforeAll(async () => {
    watched = await openIn(zone);
    page = watched.page;
    name = await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone");
  });
  afterAll(async () => {
    expect(watched.faults).toEqual([]);
    await page.context().close();
  });
  const button = (title: string) => page.getByRole("button", { name: title, exact: true });
  const difference = () => page.getByText("Months and years of the overview are in UTC");

  it("days, payouts and figures are those of the service in the zone", async () => {
    expect(await button(name).getAttribute("aria-pressed")).toBe("true");
    await expectFigures(page, name);
    await difference().waitFor();
  });

  it("the periods of the buttons are in the zone, with refunds, hours and earnings per hour", async () => {
    await button("Last 30 days").click();
    await shows(page, "#period", lastDays(name), name);
    const figures = await serverFigures(lastDays(name), name);
    const [server, , ...shown] = await cellsOf(page, "Servers in the period");
    expect(server).toContain("alpha");
    expect(shown.slice(0, 3)).toEqual(figures);
    // Numbers hold amounts like these.
    const [revenue = Number.NaN, , hours = Number.NaN] = figures.map(Number);
    expect(shown[3]).toBe(((revenue * 0.9) / hours).toFixed(2));
  });

  it("what is copied asks in the zone", async () => {
    await button("Export").click();
    await page.locator("#export").getByRole("button", { name: "curl" }).last().click();
    await page
      .locator("#export")
      .getByText(`timeZone=${encodeURIComponent(name)}`)
      .waitFor();
    await page.keyboard.press("Escape");
  });

  it("UTC is one click away, remembered after a reload, and so is the way back", async () => {
    await button("UTC").click();
    await expectFigures(page, "UTC");
    // The period is still that of the button, of the day that it is in UTC.
    expect(await button("Last 30 days").getAttribute("aria-pressed")).toBe("true");
    expect(await page.getByLabel("To").inputValue()).toBe(lastDays("UTC")[1]);
    expect(await difference().count()).toBe(0);
    await page.reload();
    await settled(page);
    expect(await button("UTC").getAttribute("aria-pressed")).toBe("true");
    await expectFigures(page, "UTC");
    await button(name).click();
    await expectFigures(page, name);
    expect(await page.evaluate("localStorage.length")).toBe(0);
  });
});

it("axe finds nothing on a page with a zone of a long name, and nothing is cut off", async () => {
  const { page } = await openIn("America/North_Dakota/New_Salem");
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  expect(await tooNarrow(page, 360)).toEqual([]);
  await page.context().close();
});

it("a browser in UTC has nothing to choose", async () => {
  const { page, faults } = await openIn("UTC");
  await page.getByText("UTC, US dollars").waitFor();
  expect(await page.getByRole("button", { name: "UTC" }).count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

it("of a zone that the service does not know, the page says so, and shows UTC", async () => {
  const { page } = await openPage(fixture.browser, `${fixture.service.http}/licenses.txt`);
  // Some systems have an offset in place of a name.
  await page.addInitScript(`
    const { resolvedOptions } = Intl.DateTimeFormat.prototype;
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...resolvedOptions.call(this), timeZone: "+05:30" };
    };`);
  await page.goto(fixture.service.http);
  await enterKey(page, fixture.key);
  await page.getByText("The service does not know the time zone of your browser.").waitFor();
  await settled(page);
  await expectFigures(page, "UTC");
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.context().close();
});

it("older payouts are loaded page by page, until there are none", async () => {
  const { page, faults } = await openIn("Asia/Kolkata");
  const older = page.getByRole("button", { name: "Load older payouts" });
  const table = page.getByRole("table", { name: "Payouts", exact: true });
  const around = table.locator("xpath=..");
  await page.getByRole("button", { name: "Show all payouts" }).click();
  await around.getByText("Show all 1000").waitFor();
  expect(await table.locator("tbody code").count()).toBe(50);
  await older.click();
  await around.getByText(`Show all ${PAYOUTS}`).click();
  expect(await older.count()).toBe(0);
  const next = around.getByRole("button", { name: "Next" });
  const shown = await table.locator("tbody code").allTextContents();
  while (await next.isEnabled()) {
    await next.click();
    shown.push(...(await table.locator("tbody code").allTextContents()));
  }
  // The latest first, each once.
  const ids = Array.from({ length: PAYOUTS - 1 }, (_, nth) => `paid-${nth}`);
  expect(shown.toSorted()).toEqual([...ids, "po-1"].toSorted());
  expect(shown.slice(0, 500)).toEqual(ids.slice(0, 500));
  expect(faults).toEqual([]);
  await page.context().close();
});
