/**
 * The latency of small and large answers side by side, at half of the highest throughput. Requests
 * are sent at fixed times, whether or not the earlier ones have been answered: a service that stands
 * still for a moment delays all that are sent meanwhile. `SELECT 1` with a static response at the
 * same rate tells what the machine itself does to the latency.
 */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createFixture } from "./fixture.ts";
import { LARGE, SMALL } from "./ledger.ts";
import { startProcess } from "./process.ts";
import { quantile, type Rounds } from "./rounds.ts";

/** The options of `npm run bench -- latency`. */
export interface LatencyOptions extends Rounds {
  readonly connections: number;
  /** The number of small providers. */
  readonly providers: number;
  /** The number of charges of the provider with 200 servers. */
  readonly charges: number;
}

/** The share of the requests that are the large provider's. */
const LARGE_SHARE = 0.1;
const OVERVIEW = "/api/provider/revenue";
/** The size of the baseline's response in bytes: about that of a small overview. */
const STATIC_SIZE = 3_000;

/** Sends a request and resolves to its duration in ms. Rejects if its status is not 200. */
type Send = (isLarge: boolean) => Promise<number>;

/** The durations of a round in ms. */
interface Durations {
  readonly small: readonly number[];
  readonly large: readonly number[];
}

/** Measures with the overview of 200 servers, and with 30 days, as the large answer. */
export async function benchLatency(options: LatencyOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "1G" });
  const { providers, charges, connections, seconds, rounds } = options;
  const sizes = [
    { ...SMALL, providers },
    { ...LARGE, charges },
  ];
  const { url, keys } = await createFixture(database.url, "latency", ...sizes);
  await using service = await startProcess("src/main.ts", { DATABASE_URL: url });
  await using baseline = await startProcess("bench/servers/baseline.ts", { DATABASE_URL: url });
  const agent = new Agent({ keepAlive: true });
  const { engine, version } = database.server;
  console.log(`\n${engine} ${version}, REST, one large answer in ${1 / LARGE_SHARE}`);
  for (const [title, path] of [
    ["overview of 200 servers", OVERVIEW],
    ["30 days, 200 servers and 800 instances", `${OVERVIEW}/servers`],
  ] as const) {
    const send: Send = (isLarge) => {
      const key = keys[isLarge ? providers : Math.floor(Math.random() * providers)] ?? "";
      return get(service.url + (isLarge ? path : OVERVIEW), key, agent);
    };
    await highestThroughput(send, connections, seconds); // a warm-up
    const sendToBaseline: Send = () => get(`${baseline.url}/${STATIC_SIZE}`, "", agent);
    const results: (Durations & { readonly rate: number; readonly base: Durations })[] = [];
    for (let round = 0; round < rounds; round++) {
      const rate = (await highestThroughput(send, connections, seconds)) / 2;
      const base = await atRate(sendToBaseline, rate, seconds);
      results.push({ ...(await atRate(send, rate, seconds)), rate, base });
    }
    const rate = quantile(
      results.map((result) => result.rate),
      0.5,
    );
    console.log(`\n${title}: ${Math.round(rate)} requests/s`);
    console.table({
      "small overview": row(results.map(({ small }) => small)),
      [title]: row(results.map(({ large }) => large)),
      baseline: row(results.map(({ base }) => [...base.small, ...base.large])),
    });
  }
  agent.destroy();
}

/** Requests per second if each connection sends its next request when the last one is answered. */
async function highestThroughput(
  send: Send,
  connections: number,
  seconds: number,
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let count = 0;
  const connection = async () => {
    for (; performance.now() < end; count++) await send(Math.random() < LARGE_SHARE);
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return count / seconds;
}

/** Sends requests at a rate per second, evenly spread. */
async function atRate(send: Send, rate: number, seconds: number): Promise<Durations> {
  const durations = { small: [] as number[], large: [] as number[] };
  const sent: Promise<unknown>[] = [];
  const start = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - start) / 1_000) {
    while (sent.length <= elapsed * rate) {
      const isLarge = Math.random() < LARGE_SHARE;
      const answered = send(isLarge);
      sent.push(answered.then((ms) => durations[isLarge ? "large" : "small"].push(ms)));
    }
    await sleep(1);
  }
  await Promise.all(sent);
  return durations;
}

function get(url: string, key: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sentAt = performance.now();
  request(url, { agent, headers: { "x-api-key": key } }, (response) => {
    response.resume().on("end", () => {
      if (response.statusCode === 200) resolve(performance.now() - sentAt);
      else reject(new Error(`${url}: ${response.statusCode}`));
    });
  })
    .on("error", reject)
    .end();
  return promise;
}

/** The medians of the rounds. */
function row(rounds: readonly (readonly number[])[]) {
  const median = (value: (durations: readonly number[]) => number) =>
    quantile(rounds.map(value), 0.5).toFixed(1);
  return {
    "p50 (ms)": median((all) => quantile(all, 0.5)),
    "p99 (ms)": median((all) => quantile(all, 0.99)),
    "p99 ÷ p50": median((all) => quantile(all, 0.99) / quantile(all, 0.5)),
  };
}
