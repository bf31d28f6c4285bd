/** A page of the service in a browser context of its own, and everything that is wrong with it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Chromium reports each answer of 400 and above. Tests of errors cause them. */
const HTTP_ERROR = /^Failed to load resource/;

/** A page that is watched. */
export interface WatchedPage {
  readonly page: Page;
  /**
   * Errors on the console, violations of the policy, errors of scripts, and requests to another
   * origin or with a secret in their URL.
   */
  readonly faults: string[];
  close(): Promise<void>;
}

/** Opens a page at a URL, in English and far from UTC. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    locale: "en-US",
    timezoneId: "America/New_York",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  const { origin } = new URL(url);
  const faults: string[] = [];
  page.on("console", (message) => {
    const text = message.text();
    const matters = ["error", "warning"].includes(message.type()) && !HTTP_ERROR.test(text);
    if (matters) faults.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => {
    const target = request.url();
    const isOwn = target.startsWith(origin) || /^(data|blob):/.test(target);
    if (!isOwn || /rvk_/.test(target)) faults.push(`request: ${target}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}

/** What axe finds on a page: the rule and the elements. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate(`${AXE}; axe.run()`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Enters a key in the form. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Show revenue" }).click();
}
