/**
 * Measures how latency and the rollup's cost depend on the number of charges: a provider with four
 * instances on each server over 25 months, in databases with more and more charges. The requests
 * alternate between the databases.
 */
import { type Connection, createConnection } from "mysql2/promise";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createLedgers, time } from "./fixture.ts";
import { LARGE } from "./ledger.ts";
import { changeRollup, type RequestKind, requestKinds, sendRequest } from "./load/requests.ts";
import { type PeerProcess, startProcess } from "./process.ts";
import { measureRollup } from "./rollup-costs.ts";
import { quantile } from "./rounds.ts";

/** The options of `npm run bench -- scale`. */
export interface ScaleOptions {
  /** The number of charges of each ledger, in ascending order. */
  readonly charges: readonly number[];
  readonly servers: number;
  /** The number of requests of each kind to each ledger. */
  readonly requests: number;
  /** The number of requests of each kind to each ledger before these. */
  readonly warmUp: number;
}

interface Ledger {
  readonly charges: number;
  readonly service: PeerProcess;
  readonly key: string;
  readonly connection: Connection;
}

/** The durations of the requests, in ms, and the bytes of the answers. */
interface Measured {
  readonly service: number[];
  readonly bytes: number[];
}

/** Measures all kinds of requests on all ledgers and prints a table of latencies and one of rollups. */
export async function benchScale({
  charges: sizes,
  servers,
  ...options
}: ScaleOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "6G" });
  await using stack = new AsyncDisposableStack();
  const ledgers: Ledger[] = [];
  const rollups: Record<string, Awaited<ReturnType<typeof measureRollup>>> = {};
  for (const charges of sizes) {
    log(`${charges} charges: filling and rolling up ...`);
    const size = { ...LARGE, servers, charges };
    const { url, keys } = await createLedgers(database.url, `ledger_${charges}`, size);
    rollups[charges.toLocaleString("en")] = await measureRollup(url, charges);
    const service = stack.use(await startProcess("src/main.ts", { DATABASE_URL: url }));
    const connection = await createConnection(url);
    stack.defer(() => connection.end());
    ledgers.push({ charges, service, key: keys[0] ?? "", connection });
  }
  const latencies = await measure(ledgers, options);
  const { engine, version } = database.server;
  console.log(`\n${engine} ${version}, REST, one request at a time, ms`);
  console.table(summarize(ledgers, latencies));
  console.table(rollups);
}

/** Sends the requests one at a time, in turns. The key of the result is `name charges`. */
async function measure(
  ledgers: readonly Ledger[],
  { requests, warmUp }: Omit<ScaleOptions, "charges" | "servers">,
): Promise<Map<string, Measured>> {
  const latencies = new Map<string, Measured>();
  const kinds = Object.entries(requestKinds);
  // A change also outdates what the others would find in the cache.
  for (const part of [undefined, true]) {
    const ofPart = kinds.filter(([, { changed }]) => changed === part);
    for (let round = 0; round < requests + warmUp; round++) {
      for (const [name, kind] of ofPart) {
        for (const ledger of ledgers) {
          const { duration, bytes } = await measureOnce(ledger, kind);
          if (round < warmUp) continue;
          const key = `${name} ${ledger.charges}`;
          const entry = latencies.getOrInsertComputed(key, () => ({ service: [], bytes: [] }));
          entry.service.push(duration);
          entry.bytes.push(bytes);
        }
      }
    }
  }
  return latencies;
}

async function measureOnce({ service, key, connection }: Ledger, kind: RequestKind) {
  const { path, changed } = kind;
  if (changed) await changeRollup(connection);
  const url = `${service.url}/api/provider/revenue${path()}`;
  let bytes = 0;
  const duration = await time(async () => {
    bytes = await sendRequest(url, key);
  });
  return { duration, bytes };
}

function summarize(ledgers: readonly Ledger[], latencies: ReadonlyMap<string, Measured>) {
  const of = (name: string, ledger: Ledger | undefined) =>
    latencies.get(`${name} ${ledger?.charges}`) ?? { service: [], bytes: [] };
  return Object.fromEntries(
    Object.keys(requestKinds).flatMap((name) =>
      ledgers.map((ledger) => {
        const { service, bytes } = of(name, ledger);
        const smallest = of(name, ledgers[0]).service;
        const median = quantile(service, 0.5);
        return [
          `${name}, ${ledger.charges.toLocaleString("en")}`,
          {
            median: median.toFixed(2),
            p99: quantile(service, 0.99).toFixed(2),
            // An owner without a charge in the period has shorter figures, or none.
            kB: (quantile(bytes, 0.5) / 1_000).toFixed(0),
            "÷ smallest": (median / quantile(smallest, 0.5)).toFixed(2),
          },
        ];
      }),
    ),
  );
}
