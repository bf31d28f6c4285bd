/**
 * Whether an answer's cost depends on how many charges lie behind it: the same provider with
 * 200 servers and 800 instances over 25 months, with more and more charges, each in a
 * database of its own, asked the same questions in turns.
 */
import { type Connection, createConnection } from "mysql2/promise";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { toDatetime } from "../src/db/datetime.ts";
import { fullBreakdown } from "../src/revenue/breakdown/queries.ts";
import { fullOverview } from "../src/revenue/overview/queries.ts";
import { createFixture, NEW_CHARGES, timed } from "./fixture.ts";
import { fillLedger, LARGE } from "./ledger.ts";
import { type PeerProcess, startProcess } from "./process.ts";
import { quantile } from "./turns.ts";

export interface Scale {
  /** How many charges, from the smallest ledger to the largest. */
  readonly charges: readonly number[];
  /** How many requests of each kind to each ledger. */
  readonly requests: number;
}

const DAY = 86_400_000;
const iso = (daysAgo: number, ms = 0) => new Date(Date.now() - daysAgo * DAY + ms).toISOString();

interface Question {
  /** What stands after the path of the overview, for one request. */
  readonly path: () => string;
  /** The statement that answers it from the rollup, with everything in it. */
  readonly bare?: { readonly sql: string; readonly parameters: readonly string[] };
}

/** The questions, by the names that the table shows. */
const questions: Readonly<Record<string, Question>> = {
  overview: { path: () => "", bare: fullOverview },
  "30 days (default)": { path: () => "/servers", bare: fullBreakdown },
  "1 year": { path: () => `/servers?startDate=${iso(365).slice(0, 10)}` },
  "edges inside days": {
    path: () => `/servers?startDate=${iso(200, 12_345_678)}&endDate=${iso(20, -7_654_321)}`,
  },
  // Of which nothing is remembered.
  "another period each time": {
    path: () => {
      const [later = 0, earlier = 0] = [Math.random() * 700, Math.random() * 700].sort(
        (a, b) => a - b,
      );
      return `/servers?startDate=${iso(earlier)}&endDate=${iso(later)}`;
    },
  },
};

interface Ledger {
  readonly charges: number;
  readonly service: PeerProcess;
  readonly key: string;
  /** Rows as arrays of the database's own text, as the service reads them. */
  readonly connection: Connection;
}

/** How long each request took, in ms, and the bare query of the same question. */
interface Latencies {
  readonly service: number[];
  readonly bare: number[];
}

export async function benchScale({ charges: sizes, requests }: Scale): Promise<void> {
  const say = (line: string) => console.error(line);
  await using server = await startPrivateDatabase({ say, bufferPool: "6G" });
  await using stack = new AsyncDisposableStack();
  const ledgers: Ledger[] = [];
  const rollups: Record<string, Record<string, string>> = {};
  for (const charges of sizes) {
    say(`${charges} charges: filling and rolling up ...`);
    const fixture = await createFixture(
      server.url,
      `ledger_${charges}`,
      LARGE.providers,
      (database) => fillLedger(database, { ...LARGE, charges }),
    );
    const [first, idle, next] = fixture.rollups;
    rollups[charges.toLocaleString("en")] = {
      "first rollup (s)": (first / 1000).toFixed(1),
      "charges/s": Math.round((charges / first) * 1000).toLocaleString("en"),
      "next, nothing new (ms)": idle.toFixed(0),
      [`next, ${NEW_CHARGES.toLocaleString("en")} new (ms)`]: next.toFixed(0),
    };
    const service = stack.use(await startProcess("src/main.ts", { DATABASE_URL: fixture.url }));
    const connection = await createConnection({
      uri: fixture.url,
      dateStrings: true,
      rowsAsArray: true,
    });
    stack.defer(() => connection.end());
    ledgers.push({ charges, service, key: fixture.keys[0] ?? "", connection });
  }
  const latencies = await askInTurns(ledgers, requests);
  console.log(
    `\n${server.server.engine} ${server.server.version}, REST, one request at a time, ms`,
  );
  console.table(summary(ledgers, latencies));
  console.table(rollups);
}

async function askInTurns(
  ledgers: readonly Ledger[],
  requests: number,
): Promise<Map<string, Latencies>> {
  const latencies = new Map<string, Latencies>();
  const warmUp = 30;
  for (let round = 0; round < requests + warmUp; round++) {
    for (const [name, { path, bare }] of Object.entries(questions)) {
      const asked = path();
      for (const { charges, service, key, connection } of ledgers) {
        const took = await timed(() => ask(`${service.url}/api/provider/revenue${asked}`, key));
        const bareTook = bare && (await timed(() => askBare(connection, bare)));
        if (round < warmUp) continue;
        const id = `${name} ${charges}`;
        const own = latencies.getOrInsertComputed(id, () => ({ service: [], bare: [] }));
        own.service.push(took);
        if (bareTook !== undefined) own.bare.push(bareTook);
      }
    }
  }
  return latencies;
}

async function ask(url: string, key: string): Promise<void> {
  const response = await fetch(url, { headers: { "x-api-key": key } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
}

async function askBare(
  connection: Connection,
  { sql, parameters }: NonNullable<Question["bare"]>,
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

function summary(ledgers: readonly Ledger[], latencies: ReadonlyMap<string, Latencies>) {
  const of = (name: string, ledger: Ledger | undefined) =>
    latencies.get(`${name} ${ledger?.charges}`) ?? { service: [], bare: [] };
  return Object.fromEntries(
    Object.keys(questions).flatMap((name) =>
      ledgers.map((ledger) => {
        const { service, bare } = of(name, ledger);
        const base = of(name, ledgers[0]).service;
        const median = quantile(service, 0.5);
        return [
          `${name}, ${ledger.charges.toLocaleString("en")}`,
          {
            median: median.toFixed(2),
            p99: quantile(service, 0.99).toFixed(2),
            "÷ smallest": (median / quantile(base, 0.5)).toFixed(2),
            ...(bare.length > 0 && { "÷ bare query": (median / quantile(bare, 0.5)).toFixed(2) }),
          },
        ];
      }),
    ),
  );
}
