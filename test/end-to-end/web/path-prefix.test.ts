/** The pages behind nginx, which serves them below a path, in Chromium. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enterKey, openPage } from "../../support/browser/watched-page.ts";
import { createWebFixture, type WebFixture } from "../../support/browser/web-fixture.ts";
import { type Nginx, startNginx } from "../../support/nginx.ts";
import { smallLedger } from "../../support/small-ledger.ts";

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

it("the page shows figures, and copies a command that leads through the proxy", async () => {
  await enterKey(page, fixture.key);
  await page.getByText("Rentals running now").waitFor();
  await page.getByText("1250.50").waitFor();
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("button", { name: "Copy curl command" }).first().click();
  const command = `${await page.locator("#export pre").textContent()}`;
  expect(command).toContain(`'${nginx.url}/rev/api/provider/revenue'`);
  const env = { ...process.env, REVENUE_API_KEY: fixture.key };
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command} --silent`], { env });
  expect(stdout).toContain('"availableBalance":1250.50');
  await page.keyboard.press("Escape");
});

it("the reference sends requests through the proxy, and leads back to the page", async () => {
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
  await page.getByText("Rentals running now").waitFor();
});

it("no request was sent to another path", () => {
  expect(paths.filter((path) => !path.startsWith("/rev/") && path !== "/rev")).toEqual([]);
  expect(faults).toEqual([]);
});
