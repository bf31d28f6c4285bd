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
   * Errors on the console, violations of the policy, errors of scripts, and requests that lead away from where the
   * pages are, or have a secret in their URL.
   */
  readonly faults: string[];
}

/**
 * Opens the page with the form for the key, in English and in a time zone, by default one that is far from UTC.
 *
 * @param url where the pages are, with a slash at its end
 * @param script runs before those of the page
 */
export async function openPage(
  browser: Browser,
  url: string,
  timezoneId = "America/New_York",
  script = "",
): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: "en-US", timezoneId });
  context.setDefaultTimeout(TIME_LIMIT);
  await context.addInitScript(script);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    const text = message.text();
    const matters = ["error", "warning"].includes(message.type()) && !HTTP_ERROR.test(text);
    if (matters) faults.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => {
    const target = request.url();
    const isOwn = target.startsWith(url) || /^(data|blob):/.test(target);
    if (!isOwn || /rvk_/.test(target)) faults.push(`request: ${target}`);
  });
  await page.goto(url);
  return { page, faults };
}

/** Enters a key in the form. The figures come later. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Show revenue" }).click();
}

/** Waits until the page shows figures, and loads none. */
export async function settled(page: Page): Promise<void> {
  await page.getByText("As of ").first().waitFor();
  await page.locator("section[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** A width of the window, in CSS pixels, and a theme. */
export type Look = readonly [width: number, colorScheme: "light" | "dark"];

/** A wide window and a telephone, and both themes. Together they show every colour and every layout. */
export const [WIDE, NARROW]: readonly [Look, Look] = [
  [1440, "light"],
  [360, "dark"],
];

/** What axe finds on a page as it is shown, and whether it scrolls sideways. Takes a second, and more for a long page. */
export async function faultsOfLook(page: Page, [width, colorScheme]: Look): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  // The page learns of another theme when the next frame is drawn; a colour that is still changing is of none.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(drawn))");
  await page.evaluate("document.getAnimations().forEach((animation) => animation.cancel())");
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } =
    await page.evaluate(`${AXE}; axe.run({ resultTypes: ["violations"] })`);
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  return [...found, ...(await wide(page, width, "html"))];
}

/** What a window of a width is too narrow for: the page, the boxes inside of it that may scroll, and the cards. */
export async function tooNarrow(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  return wide(page, width, "html, .data-table, pre, .cards .card");
}

/** The boxes whose content is wider than they are. */
async function wide(page: Page, width: number, selector: string): Promise<string[]> {
  const boxes: string[] = await page.evaluate(`[...document.querySelectorAll("${selector}")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map((box) => box.tagName + " " + box.className + ": " + box.textContent.slice(0, 40))`);
  return boxes.map((box) => `at ${width} px: ${box}`);
}
