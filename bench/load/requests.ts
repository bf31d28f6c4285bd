/** The requests of the benchmark `scale`, and the queries that they are compared with. */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { Connection } from "mysql2/promise";
import { DAY } from "../../dev/duration.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { fullBreakdown } from "../../src/revenue/breakdown/queries.ts";
import { fullOverview } from "../../src/revenue/overview/queries.ts";

/** A statement of the service, to be run without the service. */
export interface BareQuery {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/** A kind of request. */
export interface RequestKind {
  /** The path below the overview's, for one request. */
  readonly path: () => string;
  /** The full query that reads the same figures from the rollup. */
  readonly query?: BareQuery;
  /** Whether a rollup run has changed the rollup since the previous request. */
  readonly afterRun?: boolean;
}

const iso = (daysAgo: number, ms = 0) => new Date(Date.now() - daysAgo * DAY + ms).toISOString();

/** The kinds of requests, by their names in the table. */
export const requestKinds: Readonly<Record<string, RequestKind>> = {
  overview: { path: () => "", query: fullOverview },
  "30 days (default)": { path: () => "/servers", query: fullBreakdown },
  "1 year": { path: () => `/servers?startDate=${iso(365).slice(0, 10)}` },
  "edges inside days": {
    path: () => `/servers?startDate=${iso(200, 12_345_678)}&endDate=${iso(20, -7_654_321)}`,
  },
  // None of the totals of these is cached.
  "30 days, after a rollup run": { path: () => "/servers", afterRun: true },
  "another period up to now": { path: () => `/servers?startDate=${iso(Math.random() * 700)}` },
  "another period each time": {
    path: () => {
      const [later = 0, earlier = 0] = [Math.random() * 700, Math.random() * 700].sort(
        (a, b) => a - b,
      );
      return `/servers?startDate=${iso(earlier)}&endDate=${iso(later)}`;
    },
  },
};

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and reads the response. Throws an Error if its status is not 200. `fetch` would
 * add its own garbage collections to the highest latencies.
 */
export async function sendRequest(url: string, key: string): Promise<void> {
  const request = get(url, { agent, headers: { "x-api-key": key } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
}

/** Leaves the rollup of provider 1 as a run does that changed its figures: with another revision. */
export async function outdateTotals(connection: Connection): Promise<void> {
  await connection.query("UPDATE rollups SET revision = revision + 1 WHERE provider_id = 1");
}

/** Runs a bare query for provider 1, with the parameters that the service would use now. */
export async function runQuery(
  connection: Connection,
  { sql, parameters }: BareQuery,
): Promise<void> {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const values: Readonly<Record<string, string>> = {
    provider: "1",
    now: toDatetime(now.getTime()),
    start: toDatetime(now.getTime() - 30 * DAY),
    end: toDatetime(now.getTime()),
    firstMonth: toDatetime(Date.UTC(year, month - 11)),
    nextMonth: toDatetime(Date.UTC(year, month + 1)),
  };
  await connection.query(
    sql,
    parameters.map((name) => values[name]),
  );
}
