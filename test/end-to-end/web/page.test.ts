/** The page in Chromium: from the key to the figures, what opens from them, and what it exports. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import {
  enterKey,
  faultsOfLook,
  LOOKS,
  openPage,
  tooNarrow,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import {
  centsOf,
  dailyTarget,
  dayName,
  digitsOf,
  type Period,
  restDays,
  restText,
  settled,
} from "./figures.ts";

const run = promisify(execFile);
/** The name of a server, which a spreadsheet would run, and which turns what follows round. */
const FORMULA = '=HYPERLINK("x")\u202e';
const TODAY = Temporal.Now.plainDateISO("UTC");
const daysAgo = (days: number) => TODAY.subtract({ days }).toString();
/** A day without charges, one with more refunds than charges, and one larger than all others. */
const [EMPTY, REFUNDED, LARGE] = [daysAgo(2), daysAgo(3), daysAgo(5)];
const LAST_MONTH = TODAY.subtract({ months: 1 }).toString().slice(0, 7);

let fixture: WebFixture;
/** One page for all tests. At the beginning and the end of each it shows figures. */
let page: Page;
beforeAll(async () => {
  fixture = await createWebFixture(async ({ knex }) => {
    await seed(knex, Date.now(), () => undefined);
    const [first, second] = await knex("servers").where({ provider_id: 1 }).orderBy("id");
    await knex("servers").where({ id: first.id }).update({ name: FORMULA });
    const long = "a-name-without-a-space".repeat(10);
    await knex("servers").where({ id: second.id }).update({ name: long });
    await knex("charges").where("charged_at", "like", `${EMPTY}%`).del();
    const more = { [REFUNDED]: "-98765.05", [LARGE]: "1234567.89" };
    for (const [day, gross] of Object.entries(more)) {
      const charged = { charged_at: `${day} 00:00:00.000`, gross };
      await knex("charges").insert({ provider_id: 1, server_id: first.id, ...charged });
    }
    // Of the latest ten two have failed, and one has a status that nobody knows; the eleventh has failed too.
    const latest = await knex("payouts").where({ provider_id: 1 }).orderBy("paid_at", "desc");
    const statuses = { 1: "Failed", 2: "Queued", 9: "Failed", 10: "Failed" };
    for (const [place, status] of Object.entries(statuses)) {
      await knex("payouts")
        .where({ id: latest[Number(place)].id })
        .update({ status });
    }
  });
  page = fixture.page;
  await enterKey(page, fixture.key);
  await settled(page);
  // Like the days of the test.
  await button("UTC").click();
  await settled(page);
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

const rest = (target: string, accept?: string) => restText(fixture, target, accept);
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });

/** The figure of a card. */
const card = (title: string | RegExp) =>
  page.locator(".card", { has: page.locator("dt", { hasText: title }) }).locator("dd");

const table = (name: string) => page.getByRole("table", { name, exact: true });
const servers = () => table("Servers in the period");
const cellsOf = (of: Locator, cell = "th, td") =>
  of.locator("tbody").locator(cell).allTextContents();

/** Shows all rows of a table. */
async function showAll(of: Locator): Promise<void> {
  const more = of.locator("xpath=..").getByRole("button", { name: /^Show \d|^Show all/ });
  while ((await more.count()) > 0) await more.click();
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
  // The byte order mark, by which spreadsheets know UTF-8.
  const text = readFileSync(await saved.path(), "utf8");
  expect(text[0]).toBe("\ufeff");
  const [, name = "", day] = /^(.*)_as-of_(.*)\.csv$/.exec(saved.suggestedFilename()) ?? [];
  expect(Temporal.PlainDate.from(day ?? "").since(TODAY).days).toBeLessThanOrEqual(1);
  return [name, text.slice(1)];
}

/** The rows of a CSV, each by column. */
const rowsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, record_delimiter: "\r\n" });

it("shows the very digits: the balance, what was paid, the month, the year, each month and each payout", async () => {
  const overview = await rest("/api/provider/revenue");
  const shown = {
    "Available balance": digitsOf(overview, "availableBalance")[0],
    [`${TODAY.toLocaleString("en", { month: "long" })} ${TODAY.year} so far`]: digitsOf(
      overview,
      "currentMonthEarnings",
    )[0],
    [`${TODAY.year} so far`]: digitsOf(overview, "totalEarningsYTD")[0],
  };
  for (const [title, digits] of Object.entries(shown)) {
    expect(
      await card(new RegExp(`^${title}$`))
        .first()
        .textContent(),
      title,
    ).toBe(digits);
  }
  await page.locator("#earnings summary").click();
  const [, months = ""] = /"monthlyEarnings":\[(.*?)\]/.exec(overview) ?? [];
  expect(await cellsOf(table("Earnings by month"), "td.main")).toEqual(digitsOf(months, "amount"));

  const { payouts } = JSON.parse(await rest("/api/provider/revenue/payouts?pageSize=1000"));
  const all = await rest("/api/provider/revenue/payouts?pageSize=1000");
  await showAll(table("Payouts"));
  expect(await cellsOf(table("Payouts"), "td.main")).toEqual(digitsOf(all, "amount"));
  const ofThisYear = digitsOf(all, "amount").filter((_, nth) => {
    const { status, date } = payouts[nth];
    return status === "Completed" && date.startsWith(`${TODAY.year}`);
  });
  const paid = ofThisYear.reduce((sum, digits) => sum + centsOf(digits), 0n);
  expect(centsOf(`${await card(`Paid in ${TODAY.year}`).first().textContent()}`)).toBe(paid);
  const [name, csv] = await downloaded("Payouts");
  expect([name, csv]).toEqual([
    "revenue_Payouts",
    await rest("/api/provider/revenue/payouts?pageSize=1000", "text/csv"),
  ]);
});

it("says whose figures these are, and is read, sorted, unfolded and filtered by keyboard", async () => {
  await page.getByText(`Key …${fixture.key.slice(-4)}`).waitFor();
  await page.reload();
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  const links = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
  for (const link of await links.all()) {
    await link.click();
    const target = page.locator(`${await link.getAttribute("href")}`);
    // Below what stays at the top, unless the page ends before.
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
  const all = (await names()).length;
  await page.getByLabel("Find by name").fill("hyper");
  // What would turn the rest of the line round is shown, and turns nothing.
  await expect.poll(names).toEqual([FORMULA.replace("\u202e", "\ufffd")]);
  await page.getByLabel("Find by name").fill("");
  await page.getByLabel("Status").selectOption("Maintenance");
  await expect.poll(async () => (await names()).length).toBeLessThan(all);
  const statuses = await servers().locator("tr:not(.below) .badge").allTextContents();
  expect(new Set(statuses)).toEqual(new Set(["Maintenance"]));
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Earned nothing").check();
  const earned = await cellsOf(servers(), "tr:not(.below) td.main");
  expect(earned.filter((digits) => centsOf(digits) > 0n)).toEqual([]);
  await page.getByLabel("Earned nothing").uncheck();
});

it("shows a chosen period; its CSV has the rows of the service's, and adds up; the curl command gives the same", async () => {
  await page.getByText("Other days").click();
  await page.getByLabel("To", { exact: true }).fill("2026-03-01");
  await settled(page);
  const requests: string[] = [];
  const note = (request: { url(): string }) => requests.push(request.url());
  page.on("request", note);
  await page.getByLabel("From").fill("2026-03-02");
  await page.getByText("The first day is after the last day.").waitFor();
  await page.getByLabel("From").fill("");
  await page.getByText("Choose both days.").waitFor();
  page.off("request", note);
  expect(requests).toEqual([]);

  await button("Last month").click();
  await settled(page);
  const month = Temporal.PlainYearMonth.from(LAST_MONTH);
  const [startDate, endDate] = [`${month}-01`, `${month}-${month.daysInMonth}`];
  const shown = `${dayName(startDate)} – ${dayName(endDate)}, UTC`;
  await page.locator("#servers").getByText(shown, { exact: true }).waitFor();
  const path = `/api/provider/revenue/servers?startDate=${startDate}&endDate=${endDate}&timeZone=UTC`;
  const json = await rest(path);
  await showAll(servers());
  const { earnings, totalRevenue, servers: listed } = JSON.parse(json);
  const own = listed.map(({ earnings }: { earnings: number }) => earnings.toFixed(2));
  const cells = await cellsOf(servers(), "tr:not(.below) td.main");
  expect(cells.toSorted()).toEqual(own.toSorted());
  expect(await card("Earnings of the period").first().textContent()).toBe(earnings.toFixed(2));

  const all = rowsOf(await rest(path, "text/csv"));
  const [name, csv] = await downloaded("Servers");
  expect(name).toBe(`revenue_Servers_${startDate}_${endDate}_UTC`);
  const ownRows = all.filter(({ instanceId }) => instanceId === "");
  expect(rowsOf(csv)).toEqual(ownRows.map(({ instanceId: _, instanceName: __, ...row }) => row));
  const sum = rowsOf(csv).reduce((sum, row) => sum + centsOf(row.totalRevenue), 0n);
  expect(sum).toBe(centsOf(totalRevenue.toFixed(2)));
  expect(csv).toContain(`,"'=HYPERLINK(""x"")`);
  const [, instances] = await downloaded("Servers", "Instances");
  expect(rowsOf(instances)).toEqual(all.filter(({ instanceId }) => instanceId !== ""));

  const command = `${await page.locator("#export-servers pre").textContent()}`;
  expect(command).not.toContain(fixture.key);
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const { stdout } = await run("sh", ["-c", `${command} --silent`], { env });
  expect(JSON.parse(stdout).earnings).toBe(earnings);
});

it("a payout that failed is told above the figures and is red; a status that nobody knows has no colour", async () => {
  const line = page.getByRole("alert");
  expect(await line.locator("strong").textContent()).toBe("2 recent payouts failed");
  const [failed, earlier] = await fixture.database
    .knex("payouts")
    .where({ provider_id: 1, status: "Failed" })
    .orderBy("paid_at", "desc");
  const told = [failed, earlier].map(({ amount, method, paid_at: at }) => {
    const grouped = Number(amount).toLocaleString("en", { minimumFractionDigits: 2 });
    return `$${grouped} on ${dayName(`${at}`.slice(0, 10))} (${method})`;
  });
  expect(await line.locator("p").textContent()).toBe(told.join(", "));
  expect((await line.boundingBox())?.y).toBeLessThan(
    (await card("Available balance").first().boundingBox())?.y ?? 0,
  );
  const colours = (status: string) =>
    page.evaluate(`[...document.querySelectorAll("#payouts .badge")]
      .filter((badge) => badge.textContent === "${status}")
      .map((badge) => getComputedStyle(badge))
      .map(({ color, backgroundColor }) => [color, backgroundColor])[0]`);
  await page.emulateMedia({ colorScheme: "light" });
  expect(await colours("Failed")).toEqual(["rgb(163, 35, 28)", "rgb(253, 236, 235)"]);
  expect(await colours("Queued")).toEqual(["rgb(90, 100, 120)", "rgb(241, 243, 248)"]);
});

it("shows 365, 90, 30 and 7 days with the digits of REST, their CSV is the service's own, and each bar is read in one place", async () => {
  let shown: Period = ["", ""];
  for (const count of [365, 90, 30, 7]) {
    await button(`${count} days`).click();
    shown = [daysAgo(count - 1), daysAgo(0)];
    if ((await page.locator("#earnings details[open]").count()) === 0) {
      await page.locator("#earnings summary").click();
    }
    await showAll(table("Earnings by day"));
    const days = (await restDays(fixture, shown)).toReversed();
    const rows = table("Earnings by day").locator("tbody tr");
    const cells = await rows.evaluateAll((rows) =>
      rows.map((row) => [...row.children].slice(0, 4).map(({ textContent }) => textContent)),
    );
    expect(cells).toEqual(days.map(({ row }) => row));
    expect(await downloaded("Days")).toEqual([
      `revenue_Days_${shown.join("_")}_UTC`,
      await rest(dailyTarget(shown), "text/csv"),
    ]);
  }
  const bars = (await restDays(fixture, shown)).map(({ bar }) => bar);
  const chart = page.locator(".bars");
  await chart.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await chart.boundingBox()) ?? expect.fail("no chart");
  for (const [index, bar] of bars.entries()) {
    const clientX = x + (width * (index + 0.5)) / bars.length;
    await page.mouse.move(clientX, y + height / 2);
    expect(await page.locator(".reading").textContent()).toBe(bar);
  }
  const touch = { pointerType: "touch", clientY: y + height / 2, clientX: x + 1 };
  await chart.dispatchEvent("pointerdown", touch);
  expect(await page.locator(".reading").textContent()).toBe(bars[0]);
});

it("a day, a month and a server of a period open their charges, which come to what was clicked; Back leads back", async () => {
  const { number } = await fixture.database
    .knex("charges")
    .where({ provider_id: 1 })
    .where("charged_at", "like", `${LARGE}%`)
    .count({ number: "*" })
    .then(([row]) => ({ number: Number(row?.number) }));
  const opens = [
    page.getByRole("row", { name: dayName(LARGE) }).getByRole("link"),
    card(/^\w+ \d+$/).locator("a"),
    servers().getByRole("row", { name: "HYPERLINK" }).getByRole("link"),
    card("Earnings of the period").locator("a"),
  ];
  for (const [nth, link] of opens.entries()) {
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
    expect(told).toContain(`earnings $${clicked} as the figures say`.replace(" $-", " -$"));
    const rows = rowsOf((await downloaded("Charges"))[1]);
    const sum = rows.reduce((sum, { amount }) => sum + centsOf(amount), 0n);
    expect(told).toContain(`gross $${sum / 100n}.`.replace("$-", "-$"));
    if (nth === 0) expect(rows.length).toBe(number);
    await page.goBack();
    await page.locator("#servers").waitFor();
  }
});

it("a statement for a month adds up, says so, and is whole and light on paper", async () => {
  await page.getByRole("link", { name: "Statement of a month" }).click();
  await page.getByLabel("Month").selectOption(LAST_MONTH);
  await page.getByText("It adds up").waitFor();
  const end = `${LAST_MONTH}-${Temporal.PlainYearMonth.from(LAST_MONTH).daysInMonth}`;
  const period = `startDate=${LAST_MONTH}-01&endDate=${end}&timeZone=UTC`;
  const json = await rest(`/api/provider/revenue/servers?${period}`);
  await page.getByText(`GET /api/provider/revenue/servers?${period}`).waitFor();
  const line = (name: string) => page.getByRole("row", { name }).locator("td").last().textContent();
  const { totalRevenue, platformFees, earnings } = JSON.parse(json);
  expect(await line("Gross revenue")).toBe(totalRevenue.toFixed(2));
  expect(await line("Platform fee")).toBe(`-${platformFees.toFixed(2)}`);
  expect(await line("Sum")).toBe(earnings.toFixed(2));
  const column = await table("Earnings by server").locator("tr td:last-child").allTextContents();
  const [sum = 0n, ...lines] = column.map(centsOf).toReversed();
  expect(lines.reduce((sum, one) => sum + one, 0n)).toBe(sum);
  expect(await page.title()).toContain("Statement for");

  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  const background = "getComputedStyle(document.querySelector('.card')).backgroundColor";
  expect(await page.evaluate(background)).toBe("rgb(255, 255, 255)");
  expect(await button("Print").isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("link", { name: "All figures" }).click();
  await page.emulateMedia({ media: "print" });
  const { payouts } = JSON.parse(await rest("/api/provider/revenue/payouts?pageSize=1000"));
  await expect.poll(() => table("Payouts").locator("tbody tr").count()).toBe(payouts.length);
  await page.emulateMedia({ media: "screen" });
});

it("the address keeps period, zone and bars for a reload, for Back and for a colleague, and never the key", async () => {
  await button("This year").click();
  await button("30 days").click();
  await settled(page);
  const figure = await card("Earnings of the period").first().textContent();
  const address = page.url();
  expect(address).not.toContain("rvk_");
  await page.reload();
  await settled(page);
  expect(await button("This year").getAttribute("aria-pressed")).toBe("true");
  await button("Last month").click();
  await page.goBack();
  expect(await button("This year").getAttribute("aria-pressed")).toBe("true");
  const colleague = await openPage(fixture.browser, address, "Asia/Kolkata");
  await enterKey(colleague.page, fixture.key);
  await settled(colleague.page);
  const same = colleague.page.locator("#servers .cards dd").first();
  expect(await same.textContent()).toBe(figure);
  for (const name of ["UTC", "30 days"]) {
    const pressed = colleague.page.getByRole("button", { name, exact: true });
    expect(await pressed.getAttribute("aria-pressed")).toBe("true");
  }
  expect(colleague.faults).toEqual([]);
  await colleague.page.context().close();
});

it("axe finds nothing on it, wide and light or narrow and dark, and nothing is cut off", async () => {
  await servers().locator("button[aria-expanded]:enabled").first().click();
  await button("Export").first().click();
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  await page.keyboard.press("Escape");
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  // The name of a server and the amounts are long.
  for (const width of [2560, 1440, 1024, 920, 700, 360, 320]) {
    expect(await tooNarrow(page, width)).toEqual([]);
  }
  await page.locator("#servers .cards a").click();
  await page.locator("#charges[aria-busy=false]").waitFor();
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
});
