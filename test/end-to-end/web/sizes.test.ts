/** The page of small and large providers in Chromium: how long it is, what it holds, and what a slow line loads. */
import type { Knex } from "knex";
import type { Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { enterKey, openPage, tooNarrow } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { settled } from "./figures.ts";

const WIDTHS = [320, 360, 768, 1440, 2560];
/** Providers with this many servers, by their ids. The amounts of the second have 11 digits. */
const SERVERS = { 1: 0, 2: 12, 3: 2_000 };

/** A line of 50 kB/s on which each answer takes 400 ms. */
const BYTES_PER_SECOND = 50_000;
const LATENCY = 0.4;

async function addProvider(knex: Knex, id: number, servers: number): Promise<void> {
  await knex("providers").insert({ id, name: `${servers} servers` });
  const created = { provider_id: id, created_at: "2024-01-01 00:00:00.000" };
  const ids = Array.from({ length: servers }, (_, index) => id * 10_000 + index);
  const insert = (table: string, rows: readonly object[]) => knex.batchInsert(table, rows, 1_000);
  await insert(
    "servers",
    ids.map((server) => {
      const uuid = crypto.randomUUID();
      const name = `rig-${server}`;
      return {
        id: server,
        ...created,
        uuid,
        name,
        type: "GPU",
        status: "Active",
        price_per_hour: 2,
      };
    }),
  );
  const charges = ids.flatMap((server) => {
    const gross = servers === 12 ? "1234567890.12" : `${server}.25`;
    return [0, 40, 300].map((days) => ({
      provider_id: id,
      server_id: server,
      charged_at: new Date(Date.now() - days * 86_400_000),
      gross,
    }));
  });
  await insert("charges", charges);
  if (servers === 0) return;
  await knex("wallets").insert({ provider_id: id, available_balance: "98765432109.87" });
  const payout = { provider_id: id, amount: "12345678901.23", method: "Bank Transfer" };
  await insert(
    "payouts",
    Array.from({ length: 10 }, (_, nth) => {
      return { ...payout, public_id: `po-${nth}`, paid_at: "2026-01-01", status: "Completed" };
    }),
  );
}

let fixture: WebFixture;
const keys: string[] = [];
let page: Page;
beforeAll(async () => {
  fixture = await createWebFixture(async ({ knex }) => {
    for (const [id, servers] of Object.entries(SERVERS))
      await addProvider(knex, Number(id), servers);
  });
  page = fixture.page;
  for (const id of Object.keys(SERVERS)) keys.push(await fixture.issueKey(id));
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture?.dispose());

/** What is pressed, and is less than 24 px high or wide. */
const tooSmall = () =>
  page.evaluate(`[...document.querySelectorAll("button, input, select, summary, nav a")]
    .map((target) => [target.textContent, target.getBoundingClientRect()])
    .filter(([, { width, height }]) => height > 0 && (height < 24 || width < 24))
    .map(([text]) => text)`);

it("the page of 0, 12 and 2,000 servers is at most 4,000 px long unasked, nothing is cut off, and what is pressed is large enough", async () => {
  for (const key of keys) {
    await enterKey(page, key);
    await settled(page);
    await page.getByRole("button", { name: "365 days" }).click();
    for (const width of WIDTHS) {
      expect(await tooNarrow(page, width)).toEqual([]);
      const sizes = "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]";
      const [height, wide] = (await page.evaluate(sizes)) as [number, number];
      expect(height, `at ${width} px`).toBeLessThanOrEqual(4_000);
      expect(wide).toBe(width);
      expect(await tooSmall(), `at ${width} px`).toEqual([]);
    }
    await page.getByRole("button", { name: "Forget key" }).click();
    // So is the form.
    expect(await tooNarrow(page, 320)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  }
});

it("of 2,000 servers the document holds a few, and each of them is found", async () => {
  await enterKey(page, keys[2] ?? "");
  await settled(page);
  const table = page.getByRole("table", { name: "Servers in the period" });
  const names = () => table.locator("tbody tr .name").allTextContents();
  const best = Array.from({ length: 2_000 }, (_, index) => `rig-${31_999 - index}`);
  expect(await names()).toEqual(best.slice(0, 10));
  const around = table.locator("xpath=..");
  await around.getByRole("button", { name: "Show 50 of 2000" }).click();
  expect(await names()).toEqual(best.slice(0, 50));
  await around.getByRole("button", { name: "Show 100 of 2000" }).click();
  expect(await names()).toEqual(best.slice(0, 100));
  expect(Number(await page.evaluate("document.querySelectorAll('*').length"))).toBeLessThan(5_000);
  await page.getByLabel("Find by name").fill("RIG-30007");
  await expect.poll(names).toEqual(["rig-30007"]);
  await page.getByText("1 of 2000 servers").waitFor();
});

/** The bytes that a page loads, compressed, until something is shown. */
async function loaded(shown: (page: Page) => Promise<unknown>, key?: string): Promise<number> {
  const { page: other } = await openPage(fixture.browser, `${fixture.service.http}/licenses.txt`);
  if (key) await other.evaluate(`sessionStorage.setItem("revenue-api-key", "${key}")`);
  const sizes: Promise<number>[] = [];
  const record = (request: Request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  };
  other.on("requestfinished", record);
  await other.goto(fixture.service.http);
  await shown(other);
  // One that ends later would be asked about when the page is closed.
  other.off("requestfinished", record);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await other.context().close();
  return bytes;
}

it("on a slow line the form is there within 2 s with 57 kB, and the balance of 2,000 servers within 5.5 s", async () => {
  // The document, its script; then the answer.
  const form = await loaded((page) => page.getByLabel("API key", { exact: true }).waitFor());
  expect(form).toBeLessThan(57_000);
  expect(2 * LATENCY + form / BYTES_PER_SECOND).toBeLessThan(2);
  const overview = await loaded((page) => page.getByText("98765432109").waitFor(), keys[2]);
  expect(overview).toBeGreaterThan(form);
  expect(3 * LATENCY + overview / BYTES_PER_SECOND).toBeLessThan(5.5);
});
