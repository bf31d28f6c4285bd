/** The page in Chromium: from the key to the figures, sorting, periods, and what it exports. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { ROOT } from "../../docs/markdown.ts";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import {
  accessibilityFaults,
  enterKey,
  openPage,
  type WatchedPage,
} from "../../support/browser/watched-page.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

const run = promisify(execFile);

let fixture: Fixture;
let browser: Browser;
beforeAll(async () => {
  [fixture, browser] = await Promise.all([
    createFixture(({ knex }) => seed(knex, Date.now(), () => undefined)),
    startBrowser(),
  ]);
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
});

let watched: WatchedPage;
let page: Page;
beforeEach(async () => {
  watched = await openPage(browser, `${fixture.service.http}/`);
  page = watched.page;
});
afterEach(async () => {
  expect(watched.faults).toEqual([]);
  await watched.close();
});

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

it("shows the very digits of the overview", async () => {
  await enterKey(page, fixture.key);
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
  const prices = page.getByRole("table", { name: "All time, by server" }).locator("td:last-child");
  expect(await prices.allTextContents()).toEqual(digitsOf(json, "pricePerHour"));
  const [, payouts = ""] = /"recentPayouts":\[(.*?)\]/.exec(json) ?? [];
  expect(await page.locator(".payouts .amount").allTextContents()).toEqual(
    digitsOf(payouts, "amount"),
  );
});

it("keeps the key in the tab: it survives a reload, is in no URL, cookie or local storage, and can be forgotten", async () => {
  await enterKey(page, fixture.key);
  await page.getByText("Available balance").waitFor();
  await page.reload();
  await page.getByText("Available balance").waitFor();
  expect(page.url()).toBe(`${fixture.service.http}/`);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("button", { name: "Forget key" }).click();
  await page.getByLabel("API key", { exact: true }).waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("is operated by keyboard: key, sorting, unfolding", async () => {
  await page.getByLabel("API key", { exact: true }).focus();
  await page.keyboard.insertText(fixture.key);
  await page.keyboard.press("Enter");
  const table = page.getByRole("table", { name: "All time, by server" });
  const price = table.getByRole("button", { name: "Price/hour" });
  await price.focus();
  await page.keyboard.press("Enter");
  const heading = table.getByRole("columnheader", { name: "Price/hour" });
  expect(await heading.getAttribute("aria-sort")).toBe("descending");
  const prices = (await table.locator("td:last-child").allTextContents()).map(Number);
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  expect(new Set(prices).size).toBeGreaterThan(2);
  const period = page.getByRole("table", { name: "in the period" });
  const server = period.locator("button[aria-expanded]:enabled").first();
  await server.focus();
  await page.keyboard.press("Space");
  expect(await server.getAttribute("aria-expanded")).toBe("true");
  expect(await period.locator("tr.instance").count()).toBeGreaterThan(0);
});

it("marks the service's order, and shows a table of a few rows whole, with headings above their numbers", async () => {
  await enterKey(page, fixture.key);
  const orders = { "All time, by server": "Gross", "in the period": "Revenue" };
  for (const [name, title] of Object.entries(orders)) {
    const table = page.getByRole("table", { name });
    await table.waitFor();
    const sorted = table.locator("th[aria-sort]");
    expect(await sorted.allTextContents()).toEqual([`${title}↓`]);
    expect(await sorted.getAttribute("aria-sort")).toBe("descending");
    // How far the last character of the heading is from the last one of a number, in pixels.
    const distance = await page.evaluate(`(() => {
      const table = document.querySelector('table[aria-label$="${name}"]');
      const end = (element) => {
        const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        let last = 0;
        while (texts.nextNode()) {
          if (texts.currentNode.parentElement.closest(".arrow")) continue;
          const range = document.createRange();
          range.selectNodeContents(texts.currentNode);
          last = Math.max(last, range.getBoundingClientRect().right);
        }
        return last;
      };
      const heads = [...table.tHead.rows[0].cells];
      const cells = [...table.tBodies[0].rows[0].cells];
      const distances = heads.map((head, index) => Math.abs(end(head) - end(cells[index])));
      return Math.max(...distances.filter((_, index) => heads[index].className === "numeric"));
    })()`);
    expect(distance).toBeLessThan(2);
    const box = table.locator("xpath=..");
    expect((await box.boundingBox())?.height).toBeGreaterThanOrEqual(
      (await table.boundingBox())?.height ?? Number.POSITIVE_INFINITY,
    );
  }
});

it("shows what was copied above the table, which stays where it is", async () => {
  await enterKey(page, fixture.key);
  const table = page.getByRole("table", { name: "All time, by server" });
  await page.getByText("Rentals running now").waitFor();
  const before = await table.boundingBox();
  await page.getByRole("button", { name: "Copy curl command" }).first().click();
  await page.getByText("Copied.").waitFor();
  const after = await table.boundingBox();
  const scrolled = await page.evaluate("scrollY");
  expect({ ...after, y: (after?.y ?? 0) + Number(scrolled) }).toEqual(before);
});

it("shows a chosen period with its instances, and its CSV is the service's own", async () => {
  await enterKey(page, fixture.key);
  await page.getByRole("button", { name: "Last month" }).click();
  const [startDate, endDate] = [
    await page.getByLabel("From").inputValue(),
    await page.getByLabel("To").inputValue(),
  ];
  const month = new Date(endDate).toLocaleString("en-GB", { month: "long", timeZone: "UTC" });
  const [year = "", , last = ""] = endDate.split("-");
  await page.getByText(`1–${last} ${month} ${year} (UTC)`, { exact: true }).waitFor();
  const json = await rest(
    `/api/provider/revenue/servers?startDate=${startDate}&endDate=${endDate}`,
  );
  await page.getByRole("button", { name: "Expand all" }).click();
  const figures = page.getByRole("table", { name: "in the period" }).locator("tr td:nth-child(3)");
  const [total, ...rows] = digitsOf(json, "totalRevenue");
  expect(await figures.allTextContents()).toEqual(rows);
  expect(await card("Gross revenue").textContent()).toBe(total);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).last().click();
  const file = await download;
  expect(file.suggestedFilename()).toBe(`revenue_${startDate}_${endDate}.csv`);
  const query = `startDate=${startDate}&endDate=${endDate}`;
  expect(readFileSync(await file.path(), "utf8")).toBe(
    await rest(`/api/provider/revenue/servers?${query}`, "text/csv"),
  );
});

it("copies a curl command and a TypeScript call that give the same figures", async () => {
  await enterKey(page, fixture.key);
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

it.each([
  { width: 1440, colorScheme: "light" },
  { width: 1440, colorScheme: "dark" },
  { width: 360, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
] as const)(
  "at $width pixels, $colorScheme, axe finds nothing, and nothing is cut off",
  async (look) => {
    const { width, colorScheme } = look;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityFaults(page)).toEqual([]);
    await enterKey(page, fixture.key);
    await page.getByText("Rentals running now").waitFor();
    await page.getByRole("button", { name: "Expand all" }).click();
    await page.getByRole("button", { name: "Copy curl command" }).first().click();
    await page.getByText("Set REVENUE_API_KEY").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  },
);
