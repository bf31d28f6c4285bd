/** What the tests of the pages need: a service with data, and its page in a browser. */
import type { Browser } from "playwright-core";
import type { TestDatabase } from "../database.ts";
import { createFixture, type Fixture } from "../service/fixture.ts";
import { startBrowser } from "./chromium.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

/** A service, its clients, and a browser in which its page is open. */
export interface WebFixture extends Fixture, WatchedPage {
  readonly browser: Browser;
}

/**
 * Creates the fixture. Once for a file: starting the browser, and a page's first load in it, are
 * the dear part.
 *
 * @param fill inserts the data, which must include a provider 1
 * @param environment variables of the service
 */
export async function createWebFixture(
  fill: (database: TestDatabase) => Promise<unknown>,
  environment: Readonly<Record<string, string>> = {},
): Promise<WebFixture> {
  const [fixture, browser] = await Promise.all([createFixture(fill, environment), startBrowser()]);
  return {
    ...fixture,
    ...(await openPage(browser, fixture.service.http)),
    browser,
    async dispose() {
      await browser.close();
      await fixture.dispose();
    },
  };
}
