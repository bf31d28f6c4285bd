/** The requests of the benchmark `scale`, and the queries that they are compared with. */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import type { Connection } from "mysql2/promise";
import { DAY } from "../../dev/duration.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import type { Read, Row } from "../../src/db/query.ts";
import { edgeValues } from "../../src/revenue/breakdown/edge.ts";
import { breakdownCheckpoints, fullBreakdown } from "../../src/revenue/breakdown/queries.ts";
import { fullOverview } from "../../src/revenue/overview/queries.ts";
import { NO_CACHED_TOTALS } from "../../src/rollup/read/sql.ts";
import { END } from "../../src/rollup/timeline.ts";

/** A kind of request. */
export interface RequestKind {
  /** The path below the overview's, for one request. */
  readonly path: () => string;
  /** Reads the same figures from the rollup of provider 1, without the service. */
  readonly query?: (connection: Connection) => Promise<void>;
  /** What changed in the rollup since the previous request. Default: nothing. */
  readonly changed?: "last segment" | "everything";
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
  overview: { path: () => "", query: queryOverview },
  "30 days (default)": { path: () => "/servers", query: queryBreakdown },
  "1 year": { path: () => `/servers?startDate=${iso(365).slice(0, 10)}` },
  "edges inside days": {
    path: () => `/servers?startDate=${iso(200, 12_345_678)}&endDate=${iso(20, -7_654_321)}`,
  },
  // Some or all of the totals of these are not cached.
  "30 days, after a rollup run": { path: () => "/servers", changed: "last segment" },
  "whole months, nothing cached": {
    path: () => `/servers?startDate=${monthsAgo(7)}-01&endDate=${lastDayOf(monthsAgo(2))}`,
    changed: "everything",
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

/** Leaves the rollup of provider 1 as a run does that changed totals: with another revision. */
export async function changeRollup(
  connection: Connection,
  changed: NonNullable<RequestKind["changed"]>,
): Promise<void> {
  const stability =
    changed === "last segment"
      ? `stable_before = '${END}', stable_since = revision, stable_since_cut = cut,
         stable_until = revision + 1,`
      : "";
  await connection.query(
    `UPDATE rollups SET ${stability} revision = revision + 1 WHERE provider_id = 1`,
  );
}

async function queryOverview(connection: Connection): Promise<void> {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  await query(connection, fullOverview, {
    provider: "1",
    now: toDatetime(now.getTime()),
    firstMonth: toDatetime(Date.UTC(year, month - 11)),
    nextMonth: toDatetime(Date.UTC(year, month + 1)),
  });
}

/** The last 30 days. */
async function queryBreakdown(connection: Connection): Promise<void> {
  const now = toDatetime(Date.now());
  const [before, end] = [toDatetime(Date.now() - 30 * DAY - 1), now];
  const around = { provider: "1", before, end };
  const read: Read = async (sql, bindings) => {
    const [found] = await connection.query(sql, [...bindings]);
    return found as Row[];
  };
  const { signal } = new AbortController();
  const { rows } = await breakdownCheckpoints.run(read, around, { signal });
  const [{ afterStart = END } = {}] = rows.checkpoints;
  const edges = {
    start: { at: before, checkpoint: afterStart },
    end: { at: end, checkpoint: END },
  };
  const nothingCached = { rollup: NO_CACHED_TOTALS, verify: "0" };
  await query(connection, fullBreakdown, {
    provider: "1",
    now,
    ...edgeValues(edges),
    ...nothingCached,
  });
}

async function query(
  connection: Connection,
  {
    sql,
    parameters,
  }: Pick<typeof fullBreakdown, "sql"> & { readonly parameters: readonly string[] },
  values: Readonly<Record<string, string>>,
): Promise<string[][]> {
  const bindings = parameters.map((name) => values[name]);
  const [rows] = await connection.query(sql, bindings);
  return rows as string[][];
}
