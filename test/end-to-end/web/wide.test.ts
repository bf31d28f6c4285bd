/** The page with 200 servers and 800 instances. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BROWSER_TIMEOUT, startBrowser } from "../../support/browser/chromium.ts";
import { enterKey, openPage } from "../../support/browser/watched-page.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

const SERVERS = 200;
const INSTANCES = 4;

let fixture: Fixture;
let browser: Browser;
beforeAll(async () => {
  const numbers = Array.from({ length: SERVERS }, (_, index) => index + 1);
  const common = { provider_id: 1, created_at: "2024-01-01 00:00:00.000" };
  [fixture, browser] = await Promise.all([
    createFixture(async ({ knex }) => {
      await knex("providers").insert({ id: 1, name: "wide" });
      const servers = numbers.map((id) => ({
        ...common,
        id,
        uuid: `6b0f3d1e-5c0e-4c59-9d0a-${`${id}`.padStart(12, "0")}`,
        name: id === 7 ? '=HYPERLINK("x")' : `server-${id}`,
        type: "GPU",
        status: "Active",
        price_per_hour: "2.5",
      }));
      await knex.batchInsert("servers", servers, 500);
      const instances = numbers.flatMap((id) =>
        Array.from({ length: INSTANCES }, (_, index) => ({
          ...common,
          server_id: id,
          public_id: `inst-${id}-${index}`,
          name: `gpu-${index}`,
        })),
      );
      await knex.batchInsert("instances", instances, 500);
    }),
    startBrowser(),
  ]);
}, BROWSER_TIMEOUT);
afterAll(async () => {
  await browser?.close();
  await fixture?.dispose();
});

it("expands, sorts and filters without a long pause, and makes formulas in names harmless", async () => {
  const { page, faults, close } = await openPage(browser, `${fixture.service.http}/`);
  await enterKey(page, fixture.key);
  const table = page.getByRole("table", { name: "in the period" });
  await table.waitFor();
  // The longest that the page did not react to input, in ms.
  await page.evaluate(`
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ type: "longtask" });`);
  await page.getByRole("button", { name: "Expand all" }).click();
  expect(await table.locator("tr.instance").count()).toBe(SERVERS * INSTANCES);
  await table.getByRole("button", { name: "Server", exact: true }).click();
  await page.getByPlaceholder("Filter by name").fill("server-20");
  // server-20 and server-200
  await expect.poll(() => table.locator("tr.server").count()).toBe(2);
  await page.getByPlaceholder("Filter by name").fill("");
  await expect.poll(() => table.locator("tr.server").count()).toBe(SERVERS);
  // Generous: a loaded machine is slow. On an idle one it is about 100 ms.
  expect(await page.evaluate("longest")).toBeLessThan(3_000);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).first().click();
  const lines = (await (await download).createReadStream().then((stream) => stream.toArray()))
    .join("")
    .split("\r\n");
  expect(lines).toHaveLength(1 + SERVERS + 1);
  expect(lines.filter((line) => line.includes("HYPERLINK"))).toEqual([
    expect.stringContaining(`,"'=HYPERLINK(""x"")",2.50,0.00,`),
  ]);
  expect(faults).toEqual([]);
  await close();
}, 60_000);
