/** A page of the service in a browser context of its own, and everything that is wrong with it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";

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
}

/** Opens a page at a URL, in English and in a time zone, by default one that is far from UTC. */
export async function openPage(
  browser: Browser,
  url: string,
  timezoneId = "America/New_York",
): Promise<WatchedPage> {
  const context = await browser.newContext({
    locale: "en-US",
    timezoneId,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(TIME_LIMIT);
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
  return { page, faults };
}

/** A width of the window, in CSS pixels, and a theme. */
export interface Look {
  readonly width: number;
  readonly colorScheme: "light" | "dark";
}

/** A wide window and a telephone, and both themes. Together they show every colour and every layout. */
export const LOOKS: readonly Look[] = [
  { width: 1440, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
];

/** What is wrong with the look of an open page: what axe finds, and whether it scrolls sideways. */
export async function faultsOfLook(page: Page, { width, colorScheme }: Look): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  // The page learns of another theme when the next frame is drawn.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(drawn))");
  // A colour that is still changing to that of the theme is none of either.
  await page.evaluate("document.getAnimations().forEach((animation) => animation.cancel())");
  const faults = await accessibilityFaults(page);
  const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
  if (wide !== width) faults.push(`it scrolls sideways: ${wide} px in ${width} px`);
  return faults.map((fault) => `at ${width} px, ${colorScheme}: ${fault}`);
}

/** The boxes inside a page, in a window of a width, that scroll sideways, and the cards too small for what they show. */
export async function tooNarrow(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  const boxes: string[] = await page.evaluate(`[...document.querySelectorAll("*")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .filter((box) => box.matches(".cards .card") || ["auto", "scroll"].includes(getComputedStyle(box).overflowX))
    .map((box) => box.className + ": " + box.textContent.slice(0, 40))`);
  return boxes.map((box) => `at ${width} px: ${box}`);
}

/** What axe finds on a page as it is shown: the rule and the elements. Takes seconds for a long page. */
async function accessibilityFaults(page: Page): Promise<string[]> {
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate(`${AXE}; axe.run({ resultTypes: ["violations"] })`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Enters a key in the form. The figures come later: wait for one of them. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Show revenue" }).click();
}
