/**
 * The pages in Chromium: the form for the key, what is shown when something is wrong, the figures, what opens from them
 * and what they export, then the reference, and the example for browsers, which calls from another origin. What is
 * arithmetic: test/unit/web. Each test goes on where the one before it has stopped.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "csv-parse/sync";
import type { Browser, Locator, Page, Request, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { rootFile } from "../../docs/markdown.ts";
import { startBrowser } from "../../support/browser/chromium.ts";
import {
  enterKey,
  faultsOfLook,
  NARROW,
  openPage,
  settled,
  tooNarrow,
  WIDE,
} from "../../support/browser/watched-page.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { type Nginx, startNginx } from "../../support/nginx.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { EMPTY, FORMULA, fillLedger, LARGE, LARGEST, PAYOUTS, SERVERS } from "./ledger.ts";

const TODAY = Temporal.Now.plainDateISO("UTC");
const LAST_MONTH = TODAY.toPlainYearMonth().subtract({ months: 1 });
const LAST_PERIOD: Period = [`${LAST_MONTH}-01`, `${LAST_MONTH}-${LAST_MONTH.daysInMonth}`];
/** The first provider's name, as names of files have it. */
const PROVIDER = "Nordlicht-Compute-GmbH";
const CALLS = ["GetOverview", "GetDailyRevenue", "GetServerBreakdown", "ListPayouts"];

/** Serves the example, with the service's address in it. */
const example = createServer((_, response) => {
  const html = rootFile("examples/browser/index.html");
  const text = html.replace('"http://127.0.0.1:8080"', JSON.stringify(fixture.service.http));
  response.setHeader("content-type", "text/html").end(text);
});
let exampleOrigin: string;
let fixture: Fixture;
let nginx: Nginx;
let browser: Browser;
/** Where the pages are, below a path of nginx: `http://127.0.0.1:PORT/rev/`. */
let url: string;
let page: Page;
let faults: readonly string[];
beforeAll(async () => {
  await new Promise<void>((resolve) => example.listen(0, "127.0.0.1", resolve));
  exampleOrigin = `http://127.0.0.1:${(example.address() as AddressInfo).port}`;
  [fixture, browser] = await Promise.all([
    createFixture(fillLedger, { CORS_ORIGINS: exampleOrigin }),
    startBrowser(),
  ]);
  nginx = await startNginx(`location /rev/ { proxy_pass ${fixture.service.http}/; }`);
  url = `${nginx.url}/rev/`;
  ({ page, faults } = await openPage(browser, url));
});
afterEach(() => {
  expect(faults).toEqual([]);
});
afterAll(async () => {
  example.close();
  await browser?.close();
  await nginx?.stop();
  await fixture?.dispose();
});

const alert = () => page.getByRole("alert");
const focused = () => page.evaluate("document.activeElement.tagName");
const keyField = () => page.getByLabel("API key", { exact: true });
const click = (name: string) => button(name).first().click();

/** What the page asks for while something is done: calls by their names, files by their paths. */
async function asked(action: () => Promise<void>): Promise<string[]> {
  const requests: string[] = [];
  const note = (request: Request) => {
    requests.push(
      request
        .url()
        .replace(/.*RevenueService\//, "")
        .replace(url, "/"),
    );
  };
  page.on("request", note);
  await action();
  page.off("request", note);
  return requests;
}

/** The first and the last day: `2026-11-01`. */
type Period = readonly [startDate: string, endDate: string];

/** What REST says, of a period in a zone or of none: an object, or the text of another type. */
async function rest(path: string, period?: Period, timeZone = "UTC", accept = "application/json") {
  const [startDate = "", endDate = ""] = period ?? [];
  const query = period ? `?${new URLSearchParams({ startDate, endDate, timeZone })}` : "";
  const headers = { "x-api-key": fixture.key, accept };
  const response = await fetch(`${url}api/provider/revenue${path}${query}`, { headers });
  return accept === "application/json" ? response.json() : response.text();
}

const usd = (amount: number) => amount.toFixed(2);

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

it("what is no key is told as that without a request; one that is not valid is refused once; both stay in the field, and are not kept", async () => {
  // The browser could not send it, in a header.
  for (const [key, message, calls] of [
    ["rvk_AbCd…", "This is not an API key", []],
    [generateKey(), "it has expired, was revoked", ["GetOverview"]],
  ] as const) {
    const requests = await asked(async () => {
      await enterKey(page, key);
      await alert().getByText(message).waitFor();
    });
    expect([requests, await keyField().inputValue(), await focused()]).toEqual([
      calls,
      key,
      "INPUT",
    ]);
  }
  expect(await faultsOfLook(page, WIDE)).toEqual([]);
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("a key with what came along when it was copied is taken, stays in the tab, survives a reload and can be forgotten", async () => {
  await enterKey(page, `\u200e"Bearer ${fixture.key.slice(0, 30)}\u00ad${fixture.key.slice(30)}"`);
  await settled(page);
  expect(await focused()).toBe("H1");
  await page.getByText(`Key …${fixture.key.slice(-4)}`).waitFor();
  expect(await page.evaluate("Object.values(sessionStorage)")).toEqual([fixture.key]);
  const requests = await asked(async () => {
    await page.reload();
    await settled(page);
  });
  // One file: in a rollout the next one may come from a version that has no other.
  expect(requests.toSorted()).toEqual(["/?zone=America%2FNew_York", ...CALLS.toSorted()]);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await click("Forget key");
  expect(await keyField().inputValue()).toBe("");
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

it("a provider without a charge sees zeros on cards alone, and is told so", async () => {
  await enterKey(page, await fixture.issueKey(EMPTY));
  for (const text of ["No payouts.", "No earnings.", "No servers in this period."]) {
    await page.getByText(text).waitFor();
  }
  expect(await page.locator("table").count()).toBe(0);
  expect(await page.locator(".cards .amount").first().textContent()).toBe("0.00");
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await click("Forget key");
});

it("what loads has its shape; without a network the figures stay, and are asked for again when there is one", async () => {
  const { promise, resolve } = Promise.withResolvers<Route>();
  await page.route("**/GetOverview", resolve);
  await enterKey(page, fixture.key);
  const route = await promise;
  await page.locator("#servers .blank").first().waitFor();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await route.continue();
  await page.unroute("**/GetOverview");
  await settled(page);

  await page.context().setOffline(true);
  await click("Refresh");
  const told = alert().filter({ hasText: "The service cannot be reached" });
  await told.waitFor();
  expect(await page.getByText("Available balance").isVisible()).toBe(true);
  const answers = CALLS.map((method) => page.waitForResponse(`**/${method}`));
  await page.context().setOffline(false);
  await Promise.all(answers);
  await told.waitFor({ state: "detached" });
});

it("an error says why with the id of the request, and the figures stay until the next try", async () => {
  // An hour: longer than the page waits before it tries again by itself.
  const headers = { "x-request-id": "r-7", "retry-after": "3600" };
  await page.route("**/GetServerBreakdown", (route) =>
    route.fulfill({ status: 503, headers, json: { code: "unavailable", message: "" } }),
  );
  await click("This year");
  const told = alert().filter({ hasText: "The figures are temporarily unavailable" });
  expect(await told.locator("code").textContent()).toBe("r-7");
  expect(await page.getByText("Rented hours").first().isVisible()).toBe(true);
  await page.unroute("**/GetServerBreakdown");
  await click("Try again");
  await told.waitFor({ state: "detached" });
});

it("shows the digits of REST: the balance, the month, the year, each month and each payout, and what failed lately", async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await click("UTC");
  await settled(page);
  const { summary, monthlyEarnings } = await rest("");
  const [month, year] = [TODAY.toLocaleString("en", { month: "long" }), TODAY.year];
  for (const [title, amount] of [
    ["Available balance", summary.availableBalance],
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
  expect(await alert().locator("strong").textContent()).toBe("2 recent payouts failed");
  const failed = payouts.find(({ status }: { status: string }) => status === "Failed");
  expect(await alert().locator("p").textContent()).toContain(` on ${dayName(failed.date)} (`);
});

it("is sorted and unfolded by keyboard, and servers are found by their names", async () => {
  await page.reload();
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await focused()).toBe("MAIN");
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
  await page.getByLabel("Find by name").fill("hyper");
  const names = () => servers().locator("tr:not(.below) .name").allTextContents();
  // What would turn the rest of the line round is shown, and turns nothing.
  await expect.poll(names).toEqual([FORMULA.replace("\u202e", "\ufffd")]);
  await page.getByLabel("Find by name").fill("");
});

it("shows a chosen period; its CSV files have the rows of the service's, one each of servers and of instances", async () => {
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
  expect(name).toBe(`revenue_${PROVIDER}_Servers_${LAST_PERIOD.join("_")}_UTC`);
  expect(rowsOf(csv)).toEqual(ofServers.map(({ instanceId: _, instanceName: __, ...row }) => row));
  expect(csv).toContain(`,"'=HYPERLINK(""x"")`);
  const [, instances] = await downloaded("Servers", "Instances");
  expect(rowsOf(instances)).toEqual(ofInstances);
});

it("shows days with the digits of REST, whose CSV is the service's own, and a bar is read when it is touched", async () => {
  await expectDays(page, "UTC");
  const period: Period = [`${TODAY.subtract({ days: 29 })}`, `${TODAY}`];
  expect(await downloaded("Days")).toEqual([
    `revenue_${PROVIDER}_Days_${period.join("_")}_UTC`,
    await rest("/daily", period, "UTC", "text/csv"),
  ]);
  const chart = page.locator(".bars");
  await chart.scrollIntoViewIfNeeded();
  const { x, y } = (await chart.boundingBox()) ?? expect.fail("no chart");
  const touch = { pointerType: "touch", clientX: x + 1, clientY: y + 1 };
  await chart.dispatchEvent("pointerdown", touch);
  const [name, earnings] = (await restDays(period, "UTC")).at(-1) ?? [];
  expect(await page.locator(".reading").textContent()).toBe(`${name} ${earnings}`);
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
    const sum = rows.reduce((sum, { amount = "" }) => sum + BigInt(amount.replace(".", "")), 0n);
    expect(told).toContain(`gross $${sum / 100n}.`);
    await page.goBack();
    await page.locator("#servers").waitFor();
  }
});

it("a statement for a month adds up, says so, and is light on paper", async () => {
  await page.getByRole("link", { name: "Statement of a month" }).click();
  await page.getByLabel("Month").selectOption(`${LAST_MONTH}`);
  await page.getByText("It adds up").waitFor();
  const line = (name: string) => page.getByRole("row", { name }).locator("td").last().textContent();
  const { totalRevenue, platformFees, earnings } = await rest("/servers", LAST_PERIOD);
  expect(await line("Gross revenue")).toBe(usd(totalRevenue));
  expect(await line("Platform fee")).toBe(usd(-platformFees));
  expect(await line("Sum")).toBe(usd(earnings));
  expect(await page.title()).toMatch(/^Statement for .* Nordlicht-Compute-GmbH$/);
  await page.locator("#statement").getByText("Nordlicht Compute GmbH", { exact: true }).waitFor();

  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  const background = "getComputedStyle(document.querySelector('.card')).backgroundColor";
  expect(await page.evaluate(background)).toBe("rgb(255, 255, 255)");
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("link", { name: "All figures" }).click();
});

it("the address keeps period, zone and bars for a reload, for Back and for a colleague elsewhere, whose zone is a click away", async () => {
  await click("This year");
  await click("30 days");
  await settled(page);
  const figure = await card("Earnings of the period").textContent();
  const address = page.url();
  expect(address).not.toContain("rvk_");
  await page.reload();
  await settled(page);
  expect(await isPressed("This year")).toBe("true");
  await click("Last month");
  await page.goBack();
  expect(await isPressed("This year")).toBe("true");

  const zone = "America/North_Dakota/New_Salem";
  const { page: other, faults } = await openPage(browser, url, zone);
  await other.goto(address);
  await enterKey(other, fixture.key);
  await settled(other);
  expect(await card("Earnings of the period", other).textContent()).toBe(figure);
  for (const name of ["UTC", "30 days"]) expect(await isPressed(name, other)).toBe("true");
  await button(zone, other).click();
  await button("This month", other).click();
  await settled(other);
  await expectDays(other, zone);
  const today = Temporal.Now.plainDateISO(zone);
  const period: Period = [`${today.with({ day: 1 })}`, `${today}`];
  const { earnings } = await rest("/servers", period, zone);
  // The month has one number on the page, wherever it is.
  const month = today.toLocaleString("en", { month: "long" });
  for (const title of [new RegExp(`^${month} \\d+ so far$`), "Earnings of the period"]) {
    expect(await card(title, other).textContent()).toBe(usd(earnings));
  }
  // The name of the zone is long.
  expect(await tooNarrow(other, 320)).toEqual([]);
  expect(faults).toEqual([]);
  await other.context().close();
});

it("the calendar is that of the answer, whatever the clock and the zone of the computer say, and a new day of the service is one for all", async () => {
  // Some systems have an offset in place of a name, which the service does not know.
  const offset = `
    const { resolvedOptions } = Intl.DateTimeFormat.prototype;
    Intl.DateTimeFormat.prototype.resolvedOptions = function () {
      return { ...resolvedOptions.call(this), timeZone: "+05:30" };
    };`;
  // Of a context of its own, which has one clock.
  const { page: open } = await openPage(browser, url, "UTC", offset);
  await open.clock.setFixedTime("2031-05-31T12:00:00Z");
  await enterKey(open, fixture.key);
  await open.getByText("The service does not know the time zone of your browser.").waitFor();
  await settled(open);
  await open.getByText(", UTC").first().waitFor();
  const chosen = () => open.getByLabel("To", { exact: true }).inputValue();
  const now = Temporal.Now.plainDateISO("UTC");
  expect([`${TODAY}`, `${now}`]).toContain(await chosen());
  expect(await open.getByText("2031").count()).toBe(0);
  // The service, three days later.
  const later = `${now.add({ days: 3 })}`;
  await open.route("**/revenue.v1.RevenueService/*", async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), "data-as-of": `${later}T12:00:00.000Z` };
    await route.fulfill({ response, headers });
  });
  await button("Last month", open).click();
  await open.getByText("12:00, UTC").waitFor();
  await button("Last 30 days", open).click();
  expect(await chosen()).toBe(later);
  await open.unrouteAll({ behavior: "ignoreErrors" });
  await open.context().close();
});

it("axe finds nothing on the figures, wide and light or narrow and dark, on an export and on charges, and nothing is cut off", async () => {
  await servers().locator("button[aria-expanded]:enabled").first().click();
  for (const look of [WIDE, NARROW]) expect(await faultsOfLook(page, look)).toEqual([]);
  // The name of a server and the amounts are long.
  for (const width of [2560, 1440, 1024, 920, 700, 360, 320]) {
    expect(await tooNarrow(page, width)).toEqual([]);
  }
  await page.locator("#payouts").getByRole("button", { name: "Export" }).click();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  const command = `${await page.locator("#export-payouts pre").textContent()}`;
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const { stdout } = await runProgram("sh", ["-c", `${command} --silent`], { env });
  expect(JSON.parse(stdout)).toEqual(await rest("/payouts"));
  await page.keyboard.press("Escape");
  await page.locator("#servers .cards a").click();
  await page.locator("#charges[aria-busy=false]").waitFor();
  expect(await faultsOfLook(page, NARROW)).toEqual([]);
  await page.goBack();
});

/** What is pressed, and is less than 24 px high or wide. */
const TOO_SMALL = `[...document.querySelectorAll("button, input, select, summary, nav a")]
  .map((target) => [target.textContent, target.getBoundingClientRect()])
  .filter(([, { width, height }]) => height > 0 && (height < 24 || width < 24))
  .map(([text]) => text)`;

it("of 2,000 servers the document holds a few, in 4,000 px, and each of them is found; older payouts come when they are asked for", async () => {
  await click("Forget key");
  // So is the form.
  expect(await tooNarrow(page, 320)).toEqual([]);
  await enterKey(page, await fixture.issueKey(LARGEST));
  await settled(page);
  for (const width of [320, 1440]) {
    expect(await tooNarrow(page, width)).toEqual([]);
    const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
    expect(height, `at ${width} px`).toBeLessThanOrEqual(4_000);
    expect(await page.evaluate(TOO_SMALL), `at ${width} px`).toEqual([]);
  }
  const names = () => servers().locator("tbody tr .name").allTextContents();
  const best = Array.from({ length: 50 }, (_, index) => `rig-${1_021_999 - index}`);
  expect(await names()).toEqual(best.slice(0, 10));
  await click(`Show 50 of ${SERVERS}`);
  expect(await names()).toEqual(best);
  expect(Number(await page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(5_000);
  await page.getByLabel("Find by name").fill("RIG-1020007");
  await expect.poll(names).toEqual(["rig-1020007"]);
  await page.getByText(`1 of ${SERVERS} servers`).waitFor();
  await click("Load older payouts");
  await button(`Show 50 of ${PAYOUTS}`).waitFor();
  expect(await button("Load older payouts").count()).toBe(0);
});

it("the reference sends requests with the key of the page or another one, which is not kept, and shows the very digits", async () => {
  const requests = await asked(async () => {
    await page.goto(`${url}docs/`);
    await page.locator("[id$=getOverview]").waitFor();
  });
  expect(requests.slice(1)).toEqual(["/docs", "/openapi.json"]);
  await page.getByText(`export REVENUE_URL=${url.slice(0, -1)}`).waitFor();
  const overview = page.locator("[id$=getOverview]");
  const execute = () => overview.getByRole("button", { name: "Execute" }).click();
  const answer = (text: string) => overview.locator("pre.answer").getByText(text).waitFor();
  await overview.locator(".opblock-summary-control").click();
  await overview.getByRole("button", { name: "Try it out" }).click();
  await execute();
  await answer('"availableBalance": 98765432109.87');
  expect(await faultsOfLook(page, NARROW)).toEqual([]);

  await click("Authorize");
  await click("Remove authorization");
  const key = page.locator(".auth-container input").first();
  // As it comes out of a chat.
  await key.fill(`\u200b"${await fixture.issueKey(EMPTY)}"`);
  await key.press("Enter");
  await click("Close");
  await execute();
  await answer('"availableBalance": 0.00');
  expect(await page.evaluate("localStorage.length")).toBe(0);
  await page.getByRole("link", { name: "Your revenue" }).first().click();
  await settled(page);
});

it("the example for browsers shows the very digits, and the message of an error", async () => {
  const page = await browser.newPage();
  await page.goto(exampleOrigin);
  await page.fill("input", "rvk_wrong");
  await page.click("button");
  await page.getByText("API key authentication is required").waitFor();
  await page.fill("input", fixture.key);
  await page.click("button");
  await page.waitForSelector("dd");
  expect(await page.textContent("dl")).toContain("availableBalance1250.50");
});
