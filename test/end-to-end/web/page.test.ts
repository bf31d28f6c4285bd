/** The page in Chromium: from the key to the figures, sorting, periods, and what it exports. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { ROOT } from "../../docs/markdown.ts";
import { BROWSER_TIMEOUT } from "../../support/browser/chromium.ts";
import {
  enterKey,
  faultsOfLook,
  LOOKS,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";

const run = promisify(execFile);
/** The name of a server, which a spreadsheet would run. */
const FORMULA = '=HYPERLINK("x")';

let fixture: WebFixture;
/** One page for all tests. At the beginning and the end of each it shows figures. */
let watched: WatchedPage;
let page: Page;
beforeAll(async () => {
  fixture = await createWebFixture(async ({ knex }) => {
    await seed(knex, Date.now(), () => undefined);
    await knex("servers").where({ name: "falcon-01" }).update({ name: FORMULA });
  });
  watched = await fixture.open("/");
  page = watched.page;
  await showFigures();
}, BROWSER_TIMEOUT);
afterEach(() => {
  expect(watched.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

async function showFigures(): Promise<void> {
  await enterKey(page, fixture.key);
  await page.getByText("Rentals running now").waitFor();
}

/** The text of a REST response: its amounts have the digits of the service. */
async function rest(path: string, accept = "application/json"): Promise<string> {
  const headers = { "x-api-key": fixture.key, accept };
  return (await fetch(`${fixture.service.http}${path}`, { headers })).text();
}

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

/** The text of the file that a button downloads, and its name. */
async function downloaded(button: "first" | "last"): Promise<[name: string, text: string]> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" })[button]().click();
  const file = await download;
  return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")];
}

it("keeps the key in the tab: it survives a reload, is in no cookie or local storage, and can be forgotten", async () => {
  await page.reload();
  await page.getByText("Rentals running now").waitFor();
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("button", { name: "Forget key" }).click();
  await page.getByLabel("API key", { exact: true }).waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await showFigures();
});

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
  await expect
    .poll(() => inPeriod().locator("tr.server .name").allTextContents())
    .toEqual([FORMULA]);
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
  expect(await downloaded("last")).toEqual([
    `revenue_${startDate}_${endDate}.csv`,
    await rest(path, "text/csv"),
  ]);
});

it("makes a formula in the name of a server harmless in the CSV of all time", async () => {
  const [, text] = await downloaded("first");
  expect(text.split("\r\n").filter((line) => line.includes("HYPERLINK"))).toEqual([
    expect.stringContaining(`,"'=HYPERLINK(""x"")",2.50,`),
  ]);
});

it("copies a curl command and a TypeScript call that give the same figures", async () => {
  const total = await card("Gross revenue").textContent();
  const copied = async (button: string) => {
    await page.getByRole("button", { name: button }).last().click();
    await page.getByText("Copied.").waitFor();
    return String(await page.evaluate("navigator.clipboard.readText()"));
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

it.each(LOOKS)(
  "at $width pixels, $colorScheme, axe finds nothing, and nothing is cut off",
  async (look) => {
    await page.getByRole("button", { name: "Forget key" }).click();
    expect(await faultsOfLook(page, look)).toEqual([]);
    await showFigures();
    await page.getByRole("button", { name: "Expand all" }).click();
    await page.getByRole("button", { name: "Copy curl command" }).first().click();
    await page.getByText("Set REVENUE_API_KEY").waitFor();
    expect(await faultsOfLook(page, look)).toEqual([]);
  },
);
