/** What a test of a page needs: a service with data, and a browser. */
import type { Browser } from "playwright-core";
import type { TestDatabase } from "../database.ts";
import { createFixture, type Fixture } from "../service/fixture.ts";
import { startBrowser } from "./chromium.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

/** A service, its clients, and a browser. Each page opened in it shares nothing with the others. */
export interface WebFixture extends Fixture {
  readonly browser: Browser;
  /** Opens a page of the service: `/`, `/docs`. */
  open(path: string): Promise<WatchedPage>;
}

/**
 * Creates the fixture. Once for a file: starting the browser, and a page's first load in it, are
 * the dear part. `beforeAll` needs `BROWSER_TIMEOUT`.
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
    browser,
    open: (path) => openPage(browser, `${fixture.service.http}${path}`),
    async dispose() {
      await browser.close();
      await fixture.dispose();
    },
  };
}
