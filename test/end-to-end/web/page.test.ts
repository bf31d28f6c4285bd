/** The page in Chromium: from the key to the figures, sorting, periods, days, and what it exports. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { GetDailyRevenueRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ROOT } from "../../docs/markdown.ts";
import { BROWSER_TIMEOUT } from "../../support/browser/chromium.ts";
import { enterKey, faultsOfLook, LOOKS, tooNarrow } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { poll } from "../../support/poll.ts";
import { dailyTarget, type Period, restDays, restText } from "./rest-days.ts";

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
  });
  page = fixture.page;
  await enterKey(page, fixture.key);
  await page.getByText("Rentals running now").waitFor();
}, BROWSER_TIMEOUT);
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

/** The three tables that can be downloaded, in their order on the page. */
const [ALL_TIME, PER_DAY, IN_PERIOD] = [0, 1, 2];

/** The name of the file that the button of a table downloads, and its text. */
async function downloaded(table: number): Promise<[name: string, text: string]> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).nth(table).click();
  const file = await download;
  return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")];
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
  expect(await page.locator(".fee .amount").textContent()).toBe(
    digitsOf(json, "platformFeesYTD")[0],
  );
  const months = page.locator("details tbody td");
  await page.locator("details").evaluate((details) => details.setAttribute("open", ""));
  const [, monthly = ""] = /"monthlyEarnings":\[(.*?)\]/.exec(json) ?? [];
  expect(await months.allTextContents()).toEqual(digitsOf(monthly, "amount"));
  const prices = lifetime().locator("td:last-child");
  expect(await prices.allTextContents()).toEqual(digitsOf(json, "pricePerHour"));
  const [, payouts = ""] = /"recentPayouts":\[(.*?)\]/.exec(json) ?? [];
  expect(await page.locator(".payouts .amount").allTextContents()).toEqual(
    digitsOf(payouts, "amount"),
  );
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
  const filter = page.getByPlaceholder("Filter by name");
  await filter.fill("hyper");
  const names = inPeriod().locator("tr.server .name");
  await expect.poll(() => names.allTextContents()).toEqual([FORMULA]);
  await filter.fill("");
});

it("shows a chosen period with its instances, and its CSV is the service's own", async () => {
  await page.getByRole("button", { name: "Last month" }).click();
  const [startDate, endDate] = [
    await page.getByLabel("From").inputValue(),
    await page.getByLabel("To").inputValue(),
  ];
  const month = new Date(endDate).toLocaleString("en-GB", { month: "long", timeZone: "UTC" });
  const [year = "", , last = ""] = endDate.split("-");
  await page.getByText(`1–${last} ${month} ${year} (UTC)`, { exact: true }).waitFor();
  const path = `/api/provider/revenue/servers?startDate=${startDate}&endDate=${endDate}`;
  const json = await rest(path);
  await page.getByRole("button", { name: "Expand all" }).click();
  const [total, ...rows] = digitsOf(json, "totalRevenue");
  expect(await inPeriod().locator("tr td:nth-child(3)").allTextContents()).toEqual(rows);
  expect(await card("Gross revenue").textContent()).toBe(total);
  expect(await downloaded(IN_PERIOD)).toEqual([
    `revenue_${startDate}_${endDate}.csv`,
    await rest(path, "text/csv"),
  ]);
});

it("makes a formula in the name of a server harmless in the CSV of all time", async () => {
  const [, text] = await downloaded(ALL_TIME);
  expect(text.split("\r\n").filter((line) => line.includes("HYPERLINK"))).toEqual([
    expect.stringContaining(`,"'=HYPERLINK(""x"")",2.50,`),
  ]);
});

it("copies a curl command and a TypeScript call that give the same figures", async () => {
  const total = await card("Gross revenue").textContent();
  const copied = async (button: string) => {
    await page.evaluate(`navigator.clipboard.writeText("")`);
    await page.getByRole("button", { name: button }).last().click();
    await page.getByText("Copied.").waitFor();
    const clipboard = () => page.evaluate("navigator.clipboard.readText()");
    return poll(async () => String(await clipboard()) || undefined);
  };
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
const days = () => page.getByRole("table", { name: "Revenue per day" }).locator("tbody tr");
/** Shows the days up to now. */
async function choose(count: number): Promise<void> {
  const [request] = await Promise.all([
    page.waitForRequest("**/revenue.v1.RevenueService/GetDailyRevenue"),
    page.getByRole("button", { name: `${count} days`, exact: true }).click(),
  ]);
  await expect.poll(() => days().count()).toBe(count);
  const message = request.postDataBuffer() ?? new Uint8Array();
  const { startDate, endDate } = fromBinary(GetDailyRevenueRequestSchema, message);
  shown = [startDate, endDate];
}

it("shows 365, 90, 30 and 7 days up to today, with the digits of REST, and their CSV is the service's own", async () => {
  for (const count of [365, 90, 30, 7]) {
    const today = daysAgo(0);
    await choose(count);
    expect([today, daysAgo(0)]).toContain(shown[1]);
    const first = Temporal.PlainDate.from(shown[1]).subtract({ days: count - 1 });
    expect(shown[0]).toBe(first.toString());
    const cells = await days().locator("th, td").allTextContents();
    expect(cells).toEqual((await restDays(fixture, shown)).toReversed().flatMap(({ row }) => row));
    const csv = await rest(dailyTarget(shown), "text/csv");
    expect(await downloaded(PER_DAY)).toEqual([`revenue-per-day_${shown.join("_")}.csv`, csv]);
  }
});

it("each bar tells its day and amount by keyboard and under the pointer", async () => {
  const bars = (await restDays(fixture, shown)).map(({ bar }) => bar);
  const chart = page.locator(".card", { has: page.getByText("Earnings by day") });
  const slider = chart.getByRole("slider", { name: "Day" });
  const chosen = chart.locator(".chosen p");
  await slider.focus();
  await page.keyboard.press("Home");
  for (const bar of bars) {
    expect(await chosen.textContent()).toBe(bar);
    const spoken = await slider.getAttribute("aria-valuetext");
    expect(spoken?.replaceAll(/[:$,]/g, "")).toBe(bar);
    await page.keyboard.press("ArrowRight");
  }
  const canvas = chart.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await canvas.boundingBox()) ?? expect.fail("no chart");
  const pointed = new Set<string | null>();
  for (let part = 0.06; part < 1; part += 0.04) {
    await page.mouse.move(x + width * part, y + height / 2);
    pointed.add(await chosen.textContent());
  }
  expect([...pointed].sort()).toEqual(bars.toSorted());
});

it("axe finds nothing on it, wide and light or narrow and dark, and nothing is cut off", async () => {
  // Seven days are shown, all servers are unfolded, and a command was copied.
  for (const look of LOOKS) expect(await faultsOfLook(page, look)).toEqual([]);
  // The name of a server and the amounts are long.
  for (const width of [1440, 1024, 920, 700, 360]) {
    expect(await tooNarrow(page, width)).toEqual([]);
  }
});
