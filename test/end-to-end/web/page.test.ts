/** The page in Chromium: the figures, what opens from them, what it exports, its address, time zones, and many servers. */
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Knex } from "knex";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import {
  enterKey,
  faultsOfLook,
  NARROW,
  openPage,
  settled,
  tooNarrow,
  WIDE,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";

/** The name of a server, which a spreadsheet would run, and which turns what follows round. */
const FORMULA = '=HYPERLINK("x")\u202e';
const TODAY = Temporal.Now.plainDateISO("UTC");
const daysAgo = (days: number) => TODAY.subtract({ days }).toString();
/** A day with more refunds than charges, and one larger than all others. */
const [REFUNDED, LARGE] = [daysAgo(3), daysAgo(5)];
const LAST_MONTH = TODAY.toPlainYearMonth().subtract({ months: 1 });
const LAST_PERIOD: Period = [`${LAST_MONTH}-01`, `${LAST_MONTH}-${LAST_MONTH.daysInMonth}`];
/** Providers with this many servers, by their ids. The amounts of the first have 11 digits. */
const SERVERS = { 101: 12, 102: 2_000 };
/** More payouts than the page asks for at once; the last of those is older than it needs. */
const PAYOUTS = 501;

let fixture: WebFixture;
/** One page for all tests. At the beginning and the end of each it shows figures in UTC. */
let page: Page;
beforeAll(async () => {
  fixture = await createWebFixture(async ({ knex }) => {
    await seed(knex, Date.now(), () => undefined);
    await addExtremes(knex);
    for (const [id, servers] of Object.entries(SERVERS))
      await addProvider(knex, Number(id), servers);
  });
  page = fixture.page;
  await enterKey(page, fixture.key);
  await settled(page);
  await button("UTC").click();
  await settled(page);
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

/** Names, amounts and statuses that hardly occur. */
async function addExtremes(knex: Knex): Promise<void> {
  const [first, second] = await knex("servers").where({ provider_id: 1 }).orderBy("id");
  await knex("servers").where({ id: first.id }).update({ name: FORMULA });
  const long = "a-name-without-a-space".repeat(10);
  await knex("servers").where({ id: second.id }).update({ name: long });
  for (const [day, gross] of Object.entries({ [REFUNDED]: "-98765.05", [LARGE]: "1234567.89" })) {
    const charged = { charged_at: `${day} 00:00:00.000`, gross };
    await knex("charges").insert({ provider_id: 1, server_id: first.id, ...charged });
  }
  // Of the latest ten two have failed, and one has a status that nobody knows; the eleventh has failed too.
  const latest = await knex("payouts").where({ provider_id: 1 }).orderBy("paid_at", "desc");
  const update = (nth: number, status: string) =>
    knex("payouts").where({ id: latest[nth].id }).update({ status });
  await Promise.all([update(2, "Queued"), ...[1, 9, 10].map((nth) => update(nth, "Failed"))]);
}

async function addProvider(knex: Knex, id: number, servers: number): Promise<void> {
  await knex("providers").insert({ id, name: `${servers} servers` });
  const of = { provider_id: id };
  const insert = (table: string, rows: readonly object[]) => knex.batchInsert(table, rows, 1_000);
  const at = (days: number) => new Date(Date.now() - days * 86_400_000);
  const ids = Array.from({ length: servers }, (_, index) => id * 10_000 + index);
  const shared = { ...of, type: "GPU", status: "Active", price_per_hour: 2, created_at: at(1_000) };
  await insert(
    "servers",
    ids.map((id) => ({ ...shared, id, uuid: crypto.randomUUID(), name: `rig-${id}` })),
  );
  const charges = ids.flatMap((server_id) => {
    const gross = servers === 12 ? "1234567890.12" : `${server_id}.25`;
    return [0, 40, 300].map((days) => ({ ...of, server_id, charged_at: at(days), gross }));
  });
  await insert("charges", charges);
  await knex("wallets").insert({ ...of, available_balance: "98765432109.87" });
  const payout = { ...of, amount: "12345678901.23", method: "Bank Transfer", status: "Completed" };
  const nths = Array.from({ length: PAYOUTS }, (_, nth) => nth);
  await insert(
    "payouts",
    nths.map((nth) => ({ ...payout, public_id: `p-${nth}`, paid_at: at(nth) })),
  );
}

/** The first and the last day: `2026-11-01`. */
type Period = readonly [startDate: string, endDate: string];

/** What REST says, of a period in a zone or of none: an object, or the text of another type. */
async function rest(path: string, period?: Period, timeZone = "UTC", accept = "application/json") {
  const [startDate = "", endDate = ""] = period ?? [];
  const query = period ? `?${new URLSearchParams({ startDate, endDate, timeZone })}` : "";
  const headers = { "x-api-key": fixture.key, accept };
  const response = await fetch(`${fixture.url}api/provider/revenue${path}${query}`, { headers });
  return accept === "application/json" ? response.json() : response.text();
}

const usd = (amount: number) => amount.toFixed(2);
const centsOf = (digits = "") => BigInt(digits.replace(".", ""));

/** A day as the page writes it: `22 Nov 2026`. */
function dayName(date: string): string {
  const day = Temporal.PlainDate.from(date.slice(0, 10));
  return `${day.day} ${day.toLocaleString("en-US", { month: "short" })} ${day.year}`;
}

/** The days as the table has them, the latest first. */
async function restDays(period: Period, timeZone: string): Promise<string[][]> {
  const { days } = await rest("/daily", period, timeZone);
  return days.toReversed().map((day: Record<string, number>) => {
    const amounts = [day.earnings, day.platformFees, day.grossRevenue].map(Number).map(usd);
    return [dayName(`${day.date}`) + (day.partial ? " so far" : ""), ...amounts];
  });
}

const button = (name: string, on = page) => on.getByRole("button", { name, exact: true });
/** The figure of the first card with a title. */
const card = (title: string | RegExp, on = page) =>
  on
    .locator(".card", { has: on.locator("dt", { hasText: title }) })
    .locator("dd")
    .first();
const table = (name: string, on = page) => on.getByRole("table", { name, exact: true });
const servers = () => table("Servers in the period");
const mainOf = (of: Locator) => of.locator("tbody tr:not(.below) td.main").allTextContents();
const isPressed = (name: string, on = page) => button(name, on).getAttribute("aria-pressed");

/** Shows all rows of a table. */
async function showAll(of: Locator): Promise<void> {
  const more = of.locator("xpath=..").getByRole("button", { name: /^Show (all )?\d/ });
  while ((await more.count()) > 0) await more.click();
}

/** Shows 30 days in the table, and compares them with those of a zone. */
async function expectDays(on: Page, timeZone: string): Promise<void> {
  await button("30 days", on).click();
  await settled(on);
  if (!(await table("Earnings by day", on).isVisible()))
    await on.locator("#earnings summary").click();
  const today = Temporal.Now.plainDateISO(timeZone);
  const period: Period = [`${today.subtract({ days: 29 })}`, `${today}`];
  const rows = await table("Earnings by day", on)
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].slice(0, 4).map(({ textContent }) => textContent)),
    );
  expect(rows).toEqual(await restDays(period, timeZone));
}

/** The file that the export of a section has: its name before the day of the figures, and its text. */
async function downloaded(of: string, file = of): Promise<[name: string, text: string]> {
  const section = page.locator("section", { has: page.locator(`#export-${of.toLowerCase()}`) });
  await section.last().getByRole("button", { name: "Export", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Export ${of}` });
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: `${file} as CSV` }).click();
  const saved = await download;
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "hidden" });
  const text = readFileSync(await saved.path(), "utf8");
  // The byte order mark, by which spreadsheets know UTF-8.
  expect(text[0]).toBe("\ufeff");
  const [, name = ""] = /^(.*)_as-of_\d{4}-\d\d-\d\d\.csv$/.exec(saved.suggestedFilename()) ?? [];
  return [name, text.slice(1)];
}

/** The rows of a CSV, each by column. */
const rowsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, record_delimiter: "\r\n" });

it("shows the digits of REST: the balance, the month, the year, each month and each payout", async () => {
  const { summary, monthlyEarnings } = await rest("");
  const [month, year] = [TODAY.toLocaleString("en", { month: "long" }), TODAY.year];
  expect(await card("Available balance").textContent()).toBe(usd(summary.availableBalance));
  for (const [title, amount] of [
    [`${month} ${year} so far`, summary.currentMonthEarnings],
    [`${year} so far`, summary.totalEarningsYTD],
  ]) {
    expect(await card(new RegExp(`^${title}$`)).textContent(), title).toBe(usd(amount));
  }
  await page.locator("#earnings summary").click();
  const amountsOf = (rows: { amount: number }[]) => rows.map(({ amount }) => usd(amount));
  expect(await mainOf(table("Earnings by month"))).toEqual(amountsOf(monthlyEarnings));
  await showAll(table("Payouts"));
  const { payouts } = await rest("/payouts");
  expect(await mainOf(table("Payouts"))).toEqual(amountsOf(payouts));
  const paid = payouts.filter(
    ({ status, date }: Record<string, string>) =>
      status === "Completed" && date?.startsWith(`${year}`),
  );
  const sum = amountsOf(paid).reduce((sum, digits) => sum + centsOf(digits), 0n);
  expect(centsOf(`${await card(`Paid in ${year}`).textContent()}`)).toBe(sum);
});

it("a payout that failed is told above the figures and is red; a status that nobody knows has no colour", async () => {
  const line = page.getByRole("alert");
  expect(await line.locator("strong").textContent()).toBe("2 recent payouts failed");
  const { payouts } = await rest("/payouts");
  const failed = payouts.filter(({ status }: { status: string }) => status === "Failed");
  const told = failed.slice(0, 2).map(({ amount, method, date }: Record<string, string>) => {
    const grouped = Number(amount).toLocaleString("en", { minimumFractionDigits: 2 });
    return `$${grouped} on ${dayName(`${date}`)} (${method})`;
  });
  expect(await line.locator("p").textContent()).toBe(told.join(", "));
  const top = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN;
  expect(await top(line)).toBeLessThan(await top(card("Available balance")));
  const colour = (status: string) =>
    page
      .locator("#payouts .badge", { hasText: status })
      .first()
      .evaluate((badge) => getComputedStyle(badge).color);
  await page.emulateMedia({ colorScheme: "light" });
  expect([await colour("Failed"), await colour("Queued")]).toEqual([
    "rgb(163, 35, 28)",
    "rgb(90, 100, 120)",
  ]);
});

it("is read, sorted, unfolded and filtered by keyboard, and what is jumped to is below what stays", async () => {
  await page.reload();
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  const links = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
  for (const link of await links.all()) {
    await link.click();
    const target = page.locator(`${await link.getAttribute("href")}`);
    const top = (await target.boundingBox())?.y ?? -1;
    expect(top).toBeGreaterThan((await links.first().boundingBox())?.y ?? 0);
    expect(top).toBeLessThan(900);
  }
  const sortedBy = () => servers().locator("th[aria-sort=descending]").allTextContents();
  expect(await sortedBy()).toEqual(["Earnings↓"]);
  await servers().getByRole("button", { name: "Rented hours" }).focus();
  await page.keyboard.press("Enter");
  expect(await sortedBy()).toEqual(["Rented hours↓"]);
  const server = servers().locator("button[aria-expanded]:enabled").first();
  await server.focus();
  await page.keyboard.press("Space");
  expect(await server.getAttribute("aria-expanded")).toBe("true");
  expect(await servers().locator("tr.below").count()).toBeGreaterThan(0);

  const names = () => servers().locator("tr:not(.below) .name").allTextContents();
  await page.getByLabel("Find by name").fill("hyper");
  // What would turn the rest of the line round is shown, and turns nothing.
  await expect.poll(names).toEqual([FORMULA.replace("\u202e", "\ufffd")]);
  await page.getByLabel("Find by name").fill("");
  await page.getByLabel("Status").selectOption("Maintenance");
  const statuses = () => servers().locator("tr:not(.below) .badge").allTextContents();
  await expect.poll(async () => [...new Set(await statuses())]).toEqual(["Maintenance"]);
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Earned nothing").check();
  const earned = async () => (await mainOf(servers())).filter((digits) => centsOf(digits) > 0n);
  await expect.poll(earned).toEqual([]);
  await page.getByLabel("Earned nothing").uncheck();
});

it("shows a chosen period; its CSV files have the rows of the service's, one each of servers and of instances", async () => {
  const before = page.url();
  await page.getByText("Other days").click();
  await page.getByLabel("To", { exact: true }).fill("2026-03-01");
  await page.getByText("The first day is after the last day.").waitFor();
  expect(page.url()).toBe(before);
  await button("Last month").click();
  await settled(page);
  const shown = `${LAST_PERIOD.map(dayName).join(" – ")}, UTC`;
  await page.locator("#servers").getByText(shown, { exact: true }).waitFor();
  const { earnings, servers: listed } = await rest("/servers", LAST_PERIOD);
  await showAll(servers());
  const own = listed.map(({ earnings }: { earnings: number }) => usd(earnings));
  expect((await mainOf(servers())).toSorted()).toEqual(own.toSorted());
  expect(await card("Earnings of the period").textContent()).toBe(usd(earnings));

  const all = rowsOf(await rest("/servers", LAST_PERIOD, "UTC", "text/csv"));
  const [ofServers = [], ofInstances] = [true, false].map((isOwn) =>
    all.filter(({ instanceId }) => (instanceId === "") === isOwn),
  );
  const [name, csv] = await downloaded("Servers");
  expect(name).toBe(`revenue_Servers_${LAST_PERIOD.join("_")}_UTC`);
  expect(rowsOf(csv)).toEqual(ofServers.map(({ instanceId: _, instanceName: __, ...row }) => row));
  expect(csv).toContain(`,"'=HYPERLINK(""x"")`);
  const [, instances] = await downloaded("Servers", "Instances");
  expect(rowsOf(instances)).toEqual(ofInstances);
});

it("shows days with the digits of REST, whose CSV is the service's own, and each bar is read in one place", async () => {
  await expectDays(page, "UTC");
  const period: Period = [daysAgo(29), daysAgo(0)];
  expect(await downloaded("Days")).toEqual([
    `revenue_Days_${period.join("_")}_UTC`,
    await rest("/daily", period, "UTC", "text/csv"),
  ]);
  const bars = (await restDays(period, "UTC"))
    .map(([name, earnings]) => `${name} ${earnings}`)
    .toReversed();
  const chart = page.locator(".bars");
  await chart.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await chart.boundingBox()) ?? expect.fail("no chart");
  for (const index of [0, 24, 29]) {
    await page.mouse.move(x + (width * (index + 0.5)) / bars.length, y + height / 2);
    expect(await page.locator(".reading").textContent()).toBe(bars[index]);
  }
  const touch = { pointerType: "touch", clientY: y + height / 2, clientX: x + 1 };
  await chart.dispatchEvent("pointerdown", touch);
  expect(await page.locator(".reading").textContent()).toBe(bars[0]);
});

it("a day and a server of a period open their charges, which come to what was clicked; Back leads back", async () => {
  const opens = [
    page.getByRole("row", { name: dayName(LARGE) }).getByRole("link"),
    servers().getByRole("row", { name: "HYPERLINK" }).getByRole("link"),
  ];
  for (const link of opens) {
    const clicked = await link.first().textContent();
    await link.first().click();
    const older = page.getByRole("button", { name: "Load older charges" });
    const all = page.getByText("as the figures say.");
    await all.or(older).waitFor();
    while ((await older.count()) > 0) {
      await older.click();
      await settled(page);
    }
    const told = `${await all.textContent()}`.replaceAll(",", "");
    expect(told).toContain(`earnings $${clicked} as the figures say`);
    const rows = rowsOf((await downloaded("Charges"))[1]);
    const sum = rows.reduce((sum, { amount }) => sum + centsOf(amount), 0n);
    expect(told).toContain(`gross $${sum / 100n}.`);
    await page.goBack();
    await page.locator("#servers").waitFor();
  }
});

it("a statement for a month adds up, says so, and is whole and light on paper", async () => {
  await page.getByRole("link", { name: "Statement of a month" }).click();
  await page.getByLabel("Month").selectOption(`${LAST_MONTH}`);
  await page.getByText("It adds up").waitFor();
  const line = (name: string) => page.getByRole("row", { name }).locator("td").last().textContent();
  const { totalRevenue, platformFees, earnings } = await rest("/servers", LAST_PERIOD);
  expect(await line("Gross revenue")).toBe(usd(totalRevenue));
  expect(await line("Platform fee")).toBe(usd(-platformFees));
  expect(await line("Sum")).toBe(usd(earnings));
  expect(await page.title()).toContain("Statement for");

  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  const background = "getComputedStyle(document.querySelector('.card')).backgroundColor";
  expect(await page.evaluate(background)).toBe("rgb(255, 255, 255)");
  expect(await button("Print").isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("link", { name: "All figures" }).click();
  await page.emulateMedia({ media: "print" });
  const { payouts } = await rest("/payouts");
  await expect.poll(() => table("Payouts").locator("tbody tr").count()).toBe(payouts.length);
  await page.emulateMedia({ media: "screen" });
});

it("the address keeps period, zone and bars for a reload, for Back and for a colleague in Kolkata, whose zone is a click away", async () => {
  await button("This year").click();
  await button("30 days").click();
  await settled(page);
  const figure = await card("Earnings of the period").textContent();
  const address = page.url();
  expect(address).not.toContain("rvk_");
  await page.reload();
  await settled(page);
  expect(await isPressed("This year")).toBe("true");
  await button("Last month").click();
  await page.goBack();
  expect(await isPressed("This year")).toBe("true");

  const { page: other, faults } = await openPage(fixture.browser, fixture.url, "Asia/Kolkata");
  await other.goto(address);
  await enterKey(other, fixture.key);
  await settled(other);
  expect(await card("Earnings of the period", other).textContent()).toBe(figure);
  for (const name of ["UTC", "30 days"]) expect(await isPressed(name, other)).toBe("true");
  await expectDays(other, "UTC");
  // Chromium says Calcutta.
  await button("Asia/Kolkata", other).click();
  await button("This month", other).click();
  await settled(other);
  await expectDays(other, "Asia/Kolkata");
  const today = Temporal.Now.plainDateISO("Asia/Kolkata");
  const period: Period = [`${today.with({ day: 1 })}`, `${today}`];
  const { earnings } = await rest("/servers", period, "Asia/Kolkata");
  // The month has one number on the page, wherever it is.
  const month = today.toLocaleString("en", { month: "long" });
  for (const title of [new RegExp(`^${month} \\d+ so far$`), "Earnings of the period"]) {
    expect(await card(title, other).textContent()).toBe(usd(earnings));
  }
  expect(faults).toEqual([]);
  await other.context().close();
});

it("of a zone that the service does not know, the page says so, and shows UTC; a long name of one is not cut off", async () => {
  // Some systems have an offset in place of a name.
  const offset = `
    const { resolvedOptions } = Intl.DateTimeFormat.prototype;
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...resolvedOptions.call(this), timeZone: "+05:30" };
    };`;
  const { page: other } = await openPage(fixture.browser, fixture.url, "UTC", offset);
  await enterKey(other, fixture.key);
  await other.getByText("The service does not know the time zone of your browser.").waitFor();
  await settled(other);
  await other.getByText(", UTC").first().waitFor();
  await other.context().close();
  const long = "America/North_Dakota/New_Salem";
  const { page: another } = await openPage(fixture.browser, fixture.url, long);
  await enterKey(another, fixture.key);
  await settled(another);
  expect(await isPressed(long, another)).toBe("true");
  expect(await tooNarrow(another, 320)).toEqual([]);
  await another.context().close();
});

it("axe finds nothing on the figures, wide and light or narrow and dark, on an export and on charges, and nothing is cut off", async () => {
  await servers().locator("button[aria-expanded]:enabled").first().click();
  for (const look of [WIDE, NARROW]) expect(await faultsOfLook(page, look)).toEqual([]);
  // The name of a server and the amounts are long.
  for (const width of [2560, 1440, 1024, 920, 700, 360, 320]) {
    expect(await tooNarrow(page, width)).toEqual([]);
  }
  await button("Export").first().click();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.locator("#servers .cards a").click();
  await page.locator("#charges[aria-busy=false]").waitFor();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await page.goBack();
});

/** What is pressed, and is less than 24 px high or wide. */
const tooSmall = () =>
  page.evaluate(`[...document.querySelectorAll("button, input, select, summary, nav a")]
    .map((target) => [target.textContent, target.getBoundingClientRect()])
    .filter(([, { width, height }]) => height > 0 && (height < 24 || width < 24))
    .map(([text]) => text)`);

it("of 12 and of 2,000 servers it is at most 4,000 px long unasked, nothing is cut off, and what is pressed is large enough", async () => {
  for (const id of Object.keys(SERVERS)) {
    await button("Forget key").click();
    // So is the form.
    expect(await tooNarrow(page, 320)).toEqual([]);
    await enterKey(page, await fixture.issueKey(id));
    await settled(page);
    await button("365 days").click();
    for (const width of [320, 360, 768, 1440, 2560]) {
      expect(await tooNarrow(page, width)).toEqual([]);
      const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
      expect(height, `at ${width} px`).toBeLessThanOrEqual(4_000);
      expect(await tooSmall(), `at ${width} px`).toEqual([]);
    }
  }
});

it("of 2,000 servers the document holds a few, and each of them is found; older payouts come when they are asked for", async () => {
  const names = () => servers().locator("tbody tr .name").allTextContents();
  const best = Array.from({ length: 100 }, (_, index) => `rig-${1_021_999 - index}`);
  expect(await names()).toEqual(best.slice(0, 10));
  for (const count of [50, 100]) {
    await button(`Show ${count} of 2000`).click();
    expect(await names()).toEqual(best.slice(0, count));
  }
  expect(Number(await page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(5_000);
  await page.getByLabel("Find by name").fill("RIG-1020007");
  await expect.poll(names).toEqual(["rig-1020007"]);
  await page.getByText("1 of 2000 servers").waitFor();
  await button("Load older payouts").click();
  await button(`Show 50 of ${PAYOUTS}`).waitFor();
  expect(await button("Load older payouts").count()).toBe(0);
});
