/** The requests of the benchmark `scale`. */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { Connection } from "mysql2/promise";
import { DAY } from "../../dev/duration.ts";

/** A kind of request. */
export interface RequestKind {
  /** The path below the overview's, for one request. */
  readonly path: () => string;
  /** Whether the rollup has changed since the previous request, so that nothing cached is valid. */
  readonly changed?: true;
}

/** A month as "2026-11", and its last day. */
const monthsAgo = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months))
    .toISOString()
    .slice(0, 7);
};
const lastDayOf = (month: string) => `${month}-${Temporal.PlainYearMonth.from(month).daysInMonth}`;

const iso = (daysAgo: number, ms = 0) => new Date(Date.now() - daysAgo * DAY + ms).toISOString();

/** The kinds of requests, by their names in the table. */
export const requestKinds: Readonly<Record<string, RequestKind>> = {
  overview: { path: () => "" },
  "30 days (default)": { path: () => "/servers" },
  "1 year": { path: () => `/servers?startDate=${iso(365).slice(0, 10)}` },
  "edges inside days": {
    path: () => `/servers?startDate=${iso(200, 12_345_678)}&endDate=${iso(20, -7_654_321)}`,
  },
  "400 days, each of them": { path: () => `/daily?startDate=${iso(399).slice(0, 10)}` },
  // Some or all of the sums of these are not cached.
  "30 days, after a rollup run": { path: () => "/servers", changed: true },
  "whole months, after a rollup run": {
    path: () => `/servers?startDate=${monthsAgo(7)}-01&endDate=${lastDayOf(monthsAgo(2))}`,
    changed: true,
  },
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
 * Sends a request and reads the response, which is not decompressed. Resolves to its bytes. Throws an Error if
 * its status is not 200. `fetch` would add its own garbage collections to the highest latencies.
 */
export async function sendRequest(url: string, key: string): Promise<number> {
  const request = get(url, { agent, headers: { "x-api-key": key } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
  return bytes;
}

/** Leaves the rollup of provider 1 as a run does: with another version. */
export async function changeRollup(connection: Connection): Promise<void> {
  await connection.query("UPDATE rollups SET version = version + 1 WHERE provider_id = 1");
}
