/**
 * Whether an answer's cost depends on how many charges lie behind it: the same provider with
 * 200 servers and 800 instances over 25 months, with more and more charges, each in a
 * database of its own, asked the same questions in turns.
 */
import { createConnection } from "mysql2/promise";
import { createKey, migrate } from "../dev/demo/setup.ts";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { connect } from "../src/database/connection.ts";
import { rollUp } from "../src/database/rollup/rollup.ts";
import { parseDatabaseUrl } from "../src/settings.ts";
import { fillLedger } from "./ledger.ts";
import { type PeerProcess, startProcess } from "./process.ts";

export interface Scale {
  /** How many charges, from the smallest ledger to the largest. */
  readonly charges: readonly number[];
  /** How many requests of each kind to each ledger. */
  readonly requests: number;
}

const DAY = 86_400_000;
const iso = (daysAgo: number, ms = 0) => new Date(Date.now() - daysAgo * DAY + ms).toISOString();

/** The questions, by the names that the table shows. */
const questions: Readonly<Record<string, string>> = {
  overview: "",
  "30 days (default)": "/servers",
  "1 year": `/servers?startDate=${iso(365).slice(0, 10)}`,
  "edges inside days": `/servers?startDate=${iso(200, 12_345_678)}&endDate=${iso(20, -7_654_321)}`,
};

interface Ledger {
  readonly charges: number;
  readonly service: PeerProcess;
  readonly key: string;
}

export async function benchScale({ charges: sizes, requests }: Scale): Promise<void> {
  const say = (line: string) => console.error(line);
  await using server = await startPrivateDatabase({ say, bufferPool: "6G" });
  await using stack = new AsyncDisposableStack();
  const ledgers: Ledger[] = [];
  const rollups: Record<string, Record<string, string>> = {};
  for (const charges of sizes) {
    const url = await createSchema(server.url, `ledger_${charges}`);
    await migrate(url);
    const database = connect(parseDatabaseUrl(url));
    say(`${charges} charges: filling ...`);
    await fillLedger(database, charges);
    say(`${charges} charges: rolling up ...`);
    const first = await timed(() => rollUp(database, { margin: 0 }));
    await database.raw("ANALYZE TABLE rollups, rollup_checkpoints, rollup_figures, rollup_months");
    const next = await timed(() => rollUp(database, { margin: 0 }));
    await database.destroy();
    rollups[charges.toLocaleString("en")] = {
      "first rollup (s)": (first / 1000).toFixed(1),
      "charges/s": Math.round((charges / first) * 1000).toLocaleString("en"),
      "next, nothing new (ms)": next.toFixed(0),
    };
    const service = stack.use(await startProcess("src/main.ts", url));
    ledgers.push({ charges, service, key: await createKey(url) });
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
): Promise<Map<string, number[]>> {
  const latencies = new Map<string, number[]>();
  const warmUp = 30;
  for (let round = 0; round < requests + warmUp; round++) {
    for (const [name, path] of Object.entries(questions)) {
      for (const { charges, service, key } of ledgers) {
        const begun = performance.now();
        const response = await fetch(`${service.url}/api/provider/revenue${path}`, {
          headers: { "x-api-key": key },
        });
        await response.arrayBuffer();
        const took = performance.now() - begun;
        if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
        const id = `${name} ${charges}`;
        if (round >= warmUp) latencies.set(id, [...(latencies.get(id) ?? []), took]);
      }
    }
  }
  return latencies;
}

function summary(ledgers: readonly Ledger[], latencies: ReadonlyMap<string, number[]>) {
  const smallest = ledgers[0]?.charges;
  return Object.fromEntries(
    Object.keys(questions).flatMap((name) =>
      ledgers.map(({ charges }) => {
        const own = latencies.get(`${name} ${charges}`) ?? [];
        const base = latencies.get(`${name} ${smallest}`) ?? [];
        return [
          `${name}, ${charges.toLocaleString("en")}`,
          {
            median: quantile(own, 0.5).toFixed(2),
            p99: quantile(own, 0.99).toFixed(2),
            "÷ smallest": (quantile(own, 0.5) / quantile(base, 0.5)).toFixed(2),
          },
        ];
      }),
    ),
  );
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function createSchema(serverUrl: string, name: string): Promise<string> {
  const connection = await createConnection(serverUrl);
  await connection.query(`CREATE DATABASE ${name}`);
  await connection.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
