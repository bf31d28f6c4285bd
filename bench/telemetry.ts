/**
 * What telemetry costs: the service without metrics, with them, and with traces of one call in ten
 * as well. All three run on one database and are measured in turns; each round is compared with the
 * same round without metrics. Two processes of the same code differ by more than telemetry costs,
 * for as long as they live, so every round starts new ones.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createFixture } from "./fixture.ts";
import { SMALL } from "./ledger.ts";
import { oneKeyEach } from "./load/keys.ts";
import { restLoad } from "./load/rest.ts";
import { startProcess } from "./process.ts";
import { type Measurement, measure, type Peer, quantile, type Rounds } from "./rounds.ts";

/** The options of `npm run bench -- telemetry`. */
export interface TelemetryOptions extends Rounds {
  readonly connections: number;
  /** The number of small providers, one for each connection in turn. */
  readonly providers: number;
}

/** How often metrics are scraped, in ms: far more often than Prometheus does. */
const SCRAPE_INTERVAL = 1_000;

/** For how many times the measured time a new process is loaded first: until its code is compiled. */
const WARM_UP = 2;

const KINDS = ["without metrics", "with metrics", "with metrics and traces of 10 %"] as const;
type Kind = (typeof KINDS)[number];

/** Measures the three kinds, and prints a table and the ratios. */
export async function benchTelemetry(options: TelemetryOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "1G" });
  const { url, pid = Number.NaN, server } = database;
  const { providers, connections, rounds, seconds } = options;
  const { url: databaseUrl, keys } = await createFixture(url, "small", { ...SMALL, providers });
  await using collector = await startCollector();

  const environments: Record<Kind, Readonly<Record<string, string>>> = {
    "without metrics": { ADMIN_PORT: "off" },
    "with metrics": {},
    "with metrics and traces of 10 %": {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    },
  };
  const start = async (kind: Kind) => {
    const env = { DATABASE_URL: databaseUrl, ...environments[kind] };
    const service = await startProcess("src/main.ts", env);
    const load = restLoad(`${service.url}/api/provider/revenue`, oneKeyEach(connections, keys));
    const { admin } = service;
    const peer: Peer = {
      load: (time) => (admin === undefined ? load(time) : withScrapes(admin, () => load(time))),
      pids: [service.pid],
    };
    return { service, peer };
  };
  log(`${rounds} rounds of ${seconds} s for each, in turns`);
  const results = new Map<Kind, Measurement[]>(KINDS.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round++) {
    await using stack = new AsyncDisposableStack();
    // Each kind is first, second and last equally often.
    for (let place = 0; place < KINDS.length; place++) {
      const kind = KINDS[(round + place) % KINDS.length] as Kind;
      const { service, peer } = await start(kind);
      stack.use(service);
      await peer.load(WARM_UP * seconds);
      results.get(kind)?.push(await measure(peer, pid, seconds));
    }
  }
  console.log(
    `\n${server.engine} ${server.version}, overview over REST, ${connections} connections`,
  );
  console.table(table(results));
}

function table(results: ReadonlyMap<Kind, readonly Measurement[]>) {
  const [without = []] = results.values();
  const row = (all: readonly Measurement[]) => {
    const median = (value: (one: Measurement) => number) => quantile(all.map(value), 0.5);
    /** The median of the rounds' ratios to the same round without metrics, and their quartiles. */
    const ratio = (value: (one: Measurement) => number) => {
      const ratios = all.map((one, round) => value(one) / value(without[round] as Measurement));
      const [low, median, high] = [0.25, 0.5, 0.75].map((q) => quantile(ratios, q).toFixed(2));
      return `${median} (${low} to ${high})`;
    };
    return {
      "requests/s": Math.round(median((one) => one.requestsPerSecond)),
      "÷ without": ratio((one) => one.requestsPerSecond),
      "CPU/request (µs)": Math.round(median((one) => one.cpu)),
      "CPU ÷ without": ratio((one) => one.cpu),
    };
  };
  return Object.fromEntries([...results].map(([kind, all]) => [kind, row(all)]));
}

/** Scrapes the metrics of an admin port while a load runs. */
async function withScrapes<T>(admin: string, load: () => Promise<T>): Promise<T> {
  const scrape = () => fetch(`${admin}/metrics`).then((response) => response.text());
  const timer = setInterval(() => scrape().catch(() => {}), SCRAPE_INTERVAL);
  try {
    return await load();
  } finally {
    clearInterval(timer);
  }
}

/** A collector that takes spans and does nothing with them. */
async function startCollector() {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("{}"));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
