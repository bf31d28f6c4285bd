/** The page in Chromium in time zones: its days, months, payouts and servers, and that UTC is one click away. */
import type { Knex } from "knex";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  enterKey,
  faultsOfLook,
  LOOKS,
  openPage,
  tooNarrow,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { centsOf, dayName, type Period, restDays, restText, settled } from "./figures.ts";

const HOUR = 3_600_000;
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
    const paid = { paid_at: new Date(NOW - nth * 10 * HOUR), amount: `${nth}.50` };
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

/** The last 30 days of a zone. */
function lastDays(timeZone: string): Period {
  const today = Temporal.Now.plainDateISO(timeZone);
  return [today.subtract({ days: 29 }).toString(), today.toString()];
}

const cellsOf = (page: Page, table: string) =>
  page
    .getByRole("table", { name: table, exact: true, includeHidden: true })
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].slice(0, 4).map(({ textContent }) => textContent)),
    );

/** Compares what the page shows of the last days, of the month, of payouts and of the server with the service. */
async function expectFigures(page: Page, timeZone: string): Promise<void> {
  const period = lastDays(timeZone);
  await page.getByRole("button", { name: "30 days", exact: true }).click();
  await settled(page);
  const days = (await restDays(fixture, period, timeZone)).toReversed();
  expect(await cellsOf(page, "Earnings by day")).toEqual(days.map(({ row }) => row));

  await page.getByRole("button", { name: "This month" }).click();
  await settled(page);
  const [startDate, endDate] = [`${period[1].slice(0, 7)}-01`, period[1]];
  const query = new URLSearchParams({ startDate, endDate, timeZone });
  const json = await restText(fixture, `/api/provider/revenue/servers?${query}`);
  const { earnings, totalRevenue, rentedHours } = JSON.parse(json);
  const cards = page.locator(".cards dd:not(.quiet)");
  // The month has one number on the page, wherever it is.
  const [, , paid = "", , month, , , ofPeriod] = await cards.allTextContents();
  expect([month, ofPeriod]).toEqual([earnings.toFixed(2), earnings.toFixed(2)]);
  const [[server, , shown, gross] = []] = await cellsOf(page, "Servers in the period");
  expect([server?.slice(1, 6), shown, gross]).toEqual([
    "alpha",
    earnings.toFixed(2),
    totalRevenue.toFixed(2),
  ]);
  const hourly = Math.round((earnings * 100) / rentedHours) / 100;
  await page.getByText(`$${hourly.toFixed(2)} earned in an hour`).waitFor();

  const { payouts } = JSON.parse(
    await restText(fixture, "/api/provider/revenue/payouts?pageSize=1000"),
  );
  const paidDays = payouts.map(({ date }: { date: string }) =>
    Temporal.Instant.from(date).toZonedDateTimeISO(timeZone).toPlainDate().toString(),
  );
  const first = await cellsOf(page, "Payouts");
  expect(first.slice(0, 5).map(([day]) => day)).toEqual(paidDays.slice(0, 5).map(dayName));
  const cents = payouts
    .filter((_: unknown, nth: number) => paidDays[nth].startsWith(period[1].slice(0, 7)))
    .reduce((sum: bigint, { amount }: { amount: number }) => sum + centsOf(amount.toFixed(2)), 0n);
  expect(centsOf(paid)).toBe(cents);
}

it("days, months, payouts and servers are those of the zone, which has its present name; UTC and the way back are a click away", async () => {
  for (const zone of ["Asia/Kolkata", "America/St_Johns"]) {
    const { page, faults } = await openPage(fixture.browser, fixture.service.http, zone);
    await enterKey(page, fixture.key);
    await settled(page);
    const button = (title: string) => page.getByRole("button", { name: title, exact: true });
    // Chromium says Calcutta.
    expect(await button(zone).getAttribute("aria-pressed")).toBe("true");
    await expectFigures(page, zone);
    for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
    await button("UTC").click();
    await expectFigures(page, "UTC");
    await page.reload();
    await settled(page);
    expect(await button("UTC").getAttribute("aria-pressed")).toBe("true");
    await button(zone).click();
    await expectFigures(page, zone);
    // A payout of long ago, on a page that is asked for.
    const payouts = page.getByRole("table", { name: "Payouts", exact: true });
    await page.getByRole("button", { name: "Load older payouts" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Load older" }).count()).toBe(0);
    const more = payouts.locator("xpath=..").getByRole("button", { name: /^Show (all )?\d/ });
    while ((await more.count()) > 0) await more.click();
    const ids = await payouts.locator("tbody td:last-child").allTextContents();
    expect(ids.slice(0, PAYOUTS - 1)).toEqual(
      Array.from({ length: PAYOUTS - 1 }, (_, nth) => `paid-${nth}`),
    );
    expect(ids.at(-1)).toBe("po-1");
    expect(faults).toEqual([]);
    await page.context().close();
  }
});

it("of a zone that the service does not know, the page says so, and shows UTC; a long name of one is not cut off", async () => {
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
  await page.getByText(", UTC").first().waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await page.context().close();
  const long = "America/North_Dakota/New_Salem";
  const { page: other } = await openPage(fixture.browser, fixture.service.http, long);
  await enterKey(other, fixture.key);
  await settled(other);
  for (const look of LOOKS) expect(await faultsOfLook(other, look)).toEqual([]);
  expect(await tooNarrow(other, 320)).toEqual([]);
  await other.context().close();
});
