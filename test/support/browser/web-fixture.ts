/** What the tests of the pages need: a service with data, and its page in a browser. */
import type { Browser } from "playwright-core";
import type { TestDatabase } from "../database.ts";
import { type Nginx, startNginx } from "../nginx.ts";
import { createFixture, type Fixture } from "../service/fixture.ts";
import { startBrowser } from "./chromium.ts";
import { openPage, type WatchedPage } from "./watched-page.ts";

/** A service, its clients, and a browser in which its page is open, which nginx serves below a path. */
export interface WebFixture extends Fixture, WatchedPage {
  readonly browser: Browser;
  /** Where the pages are: `http://127.0.0.1:PORT/rev/`. */
  readonly url: string;
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
  const nginx: Nginx = await startNginx(`location /rev/ { proxy_pass ${fixture.service.http}/; }`);
  const url = `${nginx.url}/rev/`;
  return {
    ...fixture,
    ...(await openPage(browser, url)),
    browser,
    url,
    async dispose() {
      await browser.close();
      await nginx.stop();
      await fixture.dispose();
    },
  };
}
