/** The pages behind nginx, which serves them below a path, in Chromium. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enterKey, openPage } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { type Nginx, startNginx } from "../../support/nginx.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { settled } from "./figures.ts";

let fixture: WebFixture;
let nginx: Nginx;
let page: Page;
let faults: readonly string[];
/** The paths of all requests of the page. */
const paths: string[] = [];
beforeAll(async () => {
  fixture = await createWebFixture(smallLedger);
  nginx = await startNginx(`location /rev/ { proxy_pass ${fixture.service.http}/; }`);
  ({ page, faults } = await openPage(fixture.browser, `${nginx.url}/rev/licenses.txt`));
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  await page.goto(`${nginx.url}/rev`);
});
afterAll(async () => {
  await fixture?.dispose();
  await nginx?.stop();
});

it("the page and the reference show figures through the proxy, and send no request to another path", async () => {
  await enterKey(page, fixture.key);
  await page.getByText("1250.50").waitFor();
  await settled(page);
  await page.locator("#payouts").getByRole("button", { name: "Export" }).click();
  const command = `${await page.locator("#export-payouts pre").textContent()}`;
  expect(command).toContain(`'${nginx.url}/rev/api/provider/revenue/payouts'`);
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command} --silent`], { env });
  expect(stdout).toContain('"amount":4000.00');
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "API reference" }).click();
  await page.getByText(`export REVENUE_URL=${nginx.url}/rev`).waitFor();
  const overview = page.locator("[id$=getOverview]");
  await overview.locator(".opblock-summary-control").click();
  await overview.getByRole("button", { name: "Try it out" }).click();
  await overview.getByRole("button", { name: "Execute" }).click();
  await overview.locator("pre.answer").getByText('"availableBalance": 1250.50').waitFor();
  await page.goto(`${nginx.url}/rev/docs/`);
  expect(page.url()).toBe(`${nginx.url}/rev/docs`);
  await page.getByRole("link", { name: "Your revenue" }).first().click();
  await settled(page);
  expect(paths.filter((path) => !path.startsWith("/rev/") && path !== "/rev")).toEqual([]);
  expect(faults).toEqual([]);
});
