/** The page in Chromium: from the key to the figures, sorting, periods, days, and what it exports. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { parse } from "csv-parse/sync";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { GetDailyRevenueRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ROOT } from "../../docs/markdown.ts";
import { enterKey, faultsOfLook, LOOKS, tooNarrow } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { poll } from "../../support/poll.ts";
import { dailyTarget, dayName, type Period, restDays, restText } from "./rest-days.ts";

const run = promisify(execFile);
/** The name of a server, which a spreadsheet would run. */
const FORMULA = '=HYPERLINK("x")';
const daysAgo = (days: number) => Temporal.Now.plainDateISO("UTC").subtract({ days }).toString();
/** A day without charges, one with more refunds than charges, and one larger than all others. */
const [EMPTY, REFUNDED, LARGE] = [daysAgo(2), daysAgo(3), daysAgo(5)];

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
  await page.getByText("Rentals running now").waitFor();
  // Like the days of the test.
  await page.getByRole("button", { name: "UTC" }).click();
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

/** The text of a REST response: its amounts have the digits of the service. */
const rest = (target: string, accept?: string) => restText(fixture, target, accept);

/** The digits of each JSON field of a name, in order. */
const digitsOf = (json: string, field: string) =>
  [...json.matchAll(new RegExp(`"${field}":([-\\d.]+)`, "g"))].map(([, digits]) => digits);

const card = (title: string) =>
  page
    .locator(".card", { has: page.getByText(title, { exact: true }) })
    .locator("dd")
    .first();

const lifetime = () => page.getByRole("table", { name: "All time, by server" });
const inPeriod = () => page.getByRole("table", { name: "in the period" });
const monthly = () => page.getByRole("table", { name: "Earnings by month", includeHidden: true });
const payouts = () => page.getByRole("table", { name: "Latest payouts" });

/** Shows the rows of a table that are not shown unasked. */
const showAll = (table: Locator) =>
  table.locator("xpath=..").getByRole("button", { name: "Show all" }).click();

/** The menu of exports, while something is done with it. */
async function withMenu<T>(use: (menu: Locator) => Promise<T>): Promise<T> {
  await page.getByRole("button", { name: "Export" }).click();
  const result = await use(page.locator("#export"));
  await page.keyboard.press("Escape");
  await page.locator("#export").waitFor({ state: "hidden" });
  return result;
}

/** The first day of the test. */
const START = daysAgo(0);

/**
 * The file that the menu has of a table: its name before the day of the figures, and its text after
 * the byte order mark.
 */
async function downloaded(
  table: string,
  button = "Download CSV",
): Promise<[name: string, text: string]> {
  return withMenu(async (menu) => {
    const download = page.waitForEvent("download");
    const item = menu.getByRole("region", { name: table, exact: true });
    await item.getByRole("button", { name: button }).click();
    const file = await download;
    const text = readFileSync(await file.path(), "utf8");
    expect(text[0]).toBe("\ufeff");
    const [, name = "", day] = /^(.*)_as-of_(.*)\.csv$/.exec(file.suggestedFilename()) ?? [];
    expect([START, daysAgo(0)]).toContain(day);
    return [name, text.slice(1)] as [string, string];
  });
}

it("shows the very digits of the overview", async () => {
  const json = await rest("/api/provider/revenue");
  const shown = {
    "Available balance": "availableBalance",
    "Earnings this month": "currentMonthEarnings",
    "Earnings this year": "totalEarningsYTD",
    "Gross revenue this year": "grossRevenueYTD",
  };
  for (const [title, field] of Object.entries(shown)) {
    expect(await card(title).textContent(), title).toBe(digitsOf(json, field)[0]);
  }
  expect(await page.locator("#overview dd .amount").last().textContent()).toBe(
    digitsOf(json, "platformFeesYTD")[0],
  );
  const [, months = ""] = /"monthlyEarnings":\[(.*?)\]/.exec(json) ?? [];
  expect(await monthly().locator("td").allTextContents()).toEqual(digitsOf(months, "amount"));
  await showAll(lifetime());
  const prices = lifetime().locator("td:last-child");
  expect(await prices.allTextContents()).toEqual(digitsOf(json, "pricePerHour"));
  await showAll(payouts());
  const [, paid = ""] = /"recentPayouts":\[(.*?)\]/.exec(json) ?? [];
  expect(await payouts().locator(".amount").allTextContents()).toEqual(digitsOf(paid, "amount"));
});

it("shows all payouts on demand, and the latest again after a refresh", async () => {
  const json = await rest("/api/provider/revenue/payouts?pageSize=1000");
  const amounts = digitsOf(json, "amount");
  expect(amounts.length).toBeGreaterThan(10);
  await page.getByRole("button", { name: "Show all payouts" }).click();
  const all = page.getByRole("table", { name: "Payouts", exact: true });
  await all.waitFor();
  if ((await all.locator(".amount").count()) < amounts.length) await showAll(all);
  expect(await all.locator(".amount").allTextContents()).toEqual(amounts);
  expect(await page.getByRole("button", { name: "Load older payouts" }).count()).toBe(0);
  await page.getByRole("button", { name: "Refresh" }).click();
  await payouts().waitFor();
});

it("says whose figures these are, and its first link leads past what comes before them", async () => {
  await page.getByText(`Key …${fixture.key.slice(-4)}`).waitFor();
  await page.reload();
  await page.getByText("Rentals running now").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
});

it("leads to each of its sections", async () => {
  const links = page.getByRole("navigation", { name: "Sections" }).getByRole("link");
  for (const link of await links.all()) {
    await link.click();
    const target = page.locator(`${await link.getAttribute("href")}`);
    // Below what stays at the top, unless the page ends before.
    const top = (await target.boundingBox())?.y ?? -1;
    expect(top).toBeGreaterThan((await links.first().boundingBox())?.y ?? 0);
    expect(top).toBeLessThan(900);
  }
});

it("marks the service's order, and is sorted and unfolded by keyboard", async () => {
  const sortedBy = (table: Locator) => table.locator("th[aria-sort=descending]").allTextContents();
  expect(await sortedBy(lifetime())).toEqual(["Gross↓"]);
  expect(await sortedBy(inPeriod())).toEqual(["Revenue↓"]);
  await lifetime().getByRole("button", { name: "Price/hour" }).focus();
  await page.keyboard.press("Enter");
  expect(await sortedBy(lifetime())).toEqual(["Price/hour↓"]);
  const prices = (await lifetime().locator("td:last-child").allTextContents()).map(Number);
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  expect(new Set(prices).size).toBeGreaterThan(2);
  const server = inPeriod().locator("button[aria-expanded]:enabled").first();
  await server.focus();
  await page.keyboard.press("Space");
  expect(await server.getAttribute("aria-expanded")).toBe("true");
  expect(await inPeriod().locator("tr.instance").count()).toBeGreaterThan(0);
});

it("finds a server by a part of its name", async () => {
  for (const table of [lifetime(), inPeriod()]) {
    const field = table.locator("xpath=..").getByPlaceholder("Find by name");
    await field.fill("hyper");
    await expect
      .poll(() => table.locator("tr:not(.instance) .name").allTextContents())
      .toEqual([FORMULA]);
    await field.fill("");
  }
});

it("shows a chosen period with its instances, whose CSV has the rows of the service's: servers add up to the total, instances have a file of their own", async () => {
  await page.getByText("Other days").click();
  await page.getByRole("button", { name: "Last month" }).click();
  const [startDate, endDate] = [
    await page.getByLabel("From").inputValue(),
    await page.getByLabel("To").inputValue(),
  ];
  await page.getByText("Other days").click();
  const month = new Date(endDate).toLocaleString("en-US", { month: "short", timeZone: "UTC" });
  const [year = "", , last = ""] = endDate.split("-");
  const shown = `1 ${month} ${year} – ${last} ${month} ${year}, UTC`;
  await page.locator("#period").getByText(shown, { exact: true }).waitFor();
  const path = `/api/provider/revenue/servers?startDate=${startDate}&endDate=${endDate}`;
  const json = await rest(path);
  await page.getByRole("button", { name: "Expand all" }).click();
  const [total, ...rows] = digitsOf(json, "totalRevenue");
  expect(await inPeriod().locator("tr td:nth-child(3)").allTextContents()).toEqual(rows);
  expect(await card("Gross revenue").textContent()).toBe(total);
  const all = await rest(path, "text/csv");
  const servers = await downloaded("Servers");
  const instances = await downloaded("Servers", "Download instances");
  const period = `${startDate}_${endDate}_UTC`;
  expect([servers[0], instances[0]]).toEqual([
    `revenue_servers_${period}`,
    `revenue_instances_${period}`,
  ]);
  const ownRows = rowsOf(all).filter(({ instanceId }) => instanceId === "");
  expect(rowsOf(servers[1])).toEqual(
    ownRows.map(({ instanceId: _, instanceName: __, ...row }) => row),
  );
  const cents = rowsOf(servers[1]).map((row) => centsOf(row.totalRevenue));
  expect(cents.reduce((sum, one) => sum + one, 0n)).toBe(centsOf(total));
  const contained = rowsOf(all).filter(({ instanceId }) => instanceId !== "");
  expect(contained.length).toBeGreaterThan(0);
  expect(rowsOf(instances[1])).toEqual(contained);
});

/** The rows of a CSV, each by column. */
const rowsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, record_delimiter: "\r\n" });
const centsOf = (digits = "") => BigInt(digits.replace(".", ""));

it("a payout that failed is told above the figures and is red; other statuses and payouts before the latest are not", async () => {
  const line = page.getByRole("alert");
  expect(await line.locator("strong").textContent()).toBe("2 recent payouts failed");
  const [failed, earlier] = await fixture.database
    .knex("payouts")
    .where({ provider_id: 1, status: "Failed" })
    .orderBy("paid_at", "desc");
  const told = [failed, earlier].map(({ amount, method, paid_at: at }) => {
    return `${amount} on ${dayName(`${at}`.slice(0, 10))} (${method})`;
  });
  expect(await line.locator("p").textContent()).toBe(told.join(", "));
  expect((await line.boundingBox())?.y).toBeLessThan(
    (await card("Available balance").boundingBox())?.y ?? 0,
  );
  await line.getByRole("link", { name: "Payouts" }).click();
  const colours = (status: string) =>
    page.evaluate(`[...document.querySelectorAll("#payouts .badge")]
      .filter((badge) => badge.textContent === "${status}")
      .map((badge) => getComputedStyle(badge))
      .map(({ color, backgroundColor }) => [color, backgroundColor])[0]`);
  await page.emulateMedia({ colorScheme: "light" });
  expect(await colours("Failed")).toEqual(["rgb(163, 35, 28)", "rgb(253, 236, 235)"]);
  expect(await colours("Queued")).toEqual(["rgb(122, 75, 0)", "rgb(253, 243, 220)"]);
});

it("makes a formula in the name of a server harmless in the CSV of all time", async () => {
  const [name, text] = await downloaded("Servers, all time");
  expect(name).toBe("revenue_servers-all-time");
  expect(text.split("\r\n").filter((line) => line.includes("HYPERLINK"))).toEqual([
    expect.stringContaining(`,"'=HYPERLINK(""x"")",2.50,`),
  ]);
});

it("copies a curl command and a TypeScript call that give the same figures", async () => {
  const total = await card("Gross revenue").textContent();
  const copied = (button: string) =>
    withMenu(async (menu) => {
      await page.evaluate(`navigator.clipboard.writeText("")`);
      await menu.getByRole("button", { name: button }).last().click();
      await menu.getByText("Copied.").waitFor();
      const clipboard = () => page.evaluate("navigator.clipboard.readText()");
      return poll(async () => String(await clipboard()) || undefined);
    });
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const command = await copied("Copy curl command");
  const { stdout } = await run("sh", ["-c", `${command} --silent`], { env });
  expect(digitsOf(stdout, "totalRevenue")[0]).toBe(total);

  const folder = mkdtempSync(join(tmpdir(), "revenue-copied-"));
  const client = join(ROOT, "clients/typescript/src/index.ts");
  const program = (await copied("Copy TypeScript")).replace("revenue-service-client", client);
  const file = join(folder, "copied.mts");
  writeFileSync(file, `${program}console.log(response.totalRevenue?.value);\n`);
  const printed = await run(process.execPath, [file], { env });
  rmSync(folder, { recursive: true });
  expect(printed.stdout.trim()).toBe(total);
  expect(command + program).not.toContain(fixture.key);
});

/** The period of the days that the page shows. */
let shown: Period;
const days = () => page.getByRole("table", { name: "Revenue per day", includeHidden: true });
/** Shows the days up to now. */
async function choose(count: number): Promise<void> {
  const [response] = await Promise.all([
    page.waitForResponse("**/revenue.v1.RevenueService/GetDailyRevenue"),
    page.getByRole("button", { name: `${count} days`, exact: true }).click(),
  ]);
  const message = response.request().postDataBuffer() ?? new Uint8Array();
  const { startDate, endDate } = fromBinary(GetDailyRevenueRequestSchema, message);
  shown = [startDate, endDate];
  await expect.poll(() => chart().getAttribute("aria-valuemax")).toBe(`${count}`);
}
const chart = () => page.getByRole("slider", { name: "Earnings by day" });
const reading = () => page.locator(".card", { has: chart() }).locator(".reading").textContent();

it("shows 365, 90, 30 and 7 days up to today, with the digits of REST, and their CSV is the service's own", async () => {
  await page.locator("#days summary").click();
  for (const count of [365, 90, 30, 7]) {
    const today = daysAgo(0);
    await choose(count);
    expect([today, daysAgo(0)]).toContain(shown[1]);
    const first = Temporal.PlainDate.from(shown[1]).subtract({ days: count - 1 });
    expect(shown[0]).toBe(first.toString());
    const buttons = days().locator("xpath=..").getByRole("button");
    // Up to a month of them is shown unasked, and 50 at once.
    if (count > 31 && (await days().locator("tbody tr").count()) === 31) await showAll(days());
    const cells = [];
    for (;;) {
      cells.push(...(await days().locator("tbody").locator("th, td").allTextContents()));
      const next = buttons.filter({ hasText: "Next" });
      if ((await next.count()) === 0 || !(await next.isEnabled())) break;
      await next.click();
    }
    expect(cells).toEqual((await restDays(fixture, shown)).toReversed().flatMap(({ row }) => row));
    const csv = await rest(dailyTarget(shown), "text/csv");
    expect(await downloaded("Days")).toEqual([`revenue_days_${shown.join("_")}_UTC`, csv]);
  }
});

it("each bar is read in one place, by arrow keys, under the pointer and under a finger", async () => {
  const bars = (await restDays(fixture, shown)).map(({ bar }) => bar);
  await chart().focus();
  await page.keyboard.press("Home");
  for (const bar of bars) {
    expect(await reading()).toBe(bar);
    const spoken = await chart().getAttribute("aria-valuetext");
    expect(spoken?.replaceAll(/[:$,]/g, "")).toBe(bar);
    await page.keyboard.press("ArrowRight");
  }
  await chart().scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await chart().boundingBox()) ?? expect.fail("no chart");
  const center = (index: number) => x + (width * (index + 0.5)) / bars.length;
  for (const [index, bar] of bars.entries()) {
    await page.mouse.move(center(index), y + height / 2);
    expect(await reading()).toBe(bar);
  }
  const touch = { pointerType: "touch", clientY: y + height / 2 };
  for (const [index, bar] of bars.entries()) {
    await chart().dispatchEvent("pointerdown", { ...touch, clientX: center(index) });
    expect(await reading()).toBe(bar);
  }
});

it("axe finds nothing on it, wide and light or narrow and dark, and nothing is cut off", async () => {
  // Seven days are shown, also as a table, and all servers are unfolded.
  await page.getByRole("button", { name: "Export" }).click();
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  await page.keyboard.press("Escape");
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  // The name of a server and the amounts are long.
  for (const width of [2560, 1440, 1024, 920, 700, 360]) {
    expect(await tooNarrow(page, width)).toEqual([]);
  }
});
