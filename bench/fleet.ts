/**
 * Measures how much rollup runs slow down the answers to thousands of small providers. Rounds
 * with runs and without them take turns; charges are recorded during both.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { rollUp } from "../src/rollup/write/run.ts";
import { createFixture, type Fixture, time } from "./fixture.ts";
import { startRuns } from "./fleet/runs.ts";
import { NEWS, reachSteadyState } from "./fleet/steady-state.ts";
import { startWriter } from "./fleet/writer.ts";
import { addChargesToSome, SMALL } from "./ledger.ts";
import { randomKeys } from "./load/keys.ts";
import { restLoad } from "./load/rest.ts";
import { startProcess } from "./process.ts";
import { cpuTime, type Measurement, measure, quantile, type Rounds } from "./rounds.ts";

/** The options of `npm run bench -- fleet`. */
export interface FleetOptions extends Rounds {
  readonly connections: number;
  /** The number of providers. */
  readonly providers: number;
  /** The number of charges of each provider. */
  readonly charges: number;
}

/**
 * How long each round's load runs before it is measured, in seconds. What piled up while the runs
 * were paused is worked off in this time.
 */
const WARM_UP = 3;
/** How long they run before the first round, in seconds; no longer than a round. */
const START = 5;
/** How many runs of each kind are timed. */
const RUNS = 5;

/** A round, with or without runs. */
interface Round extends Measurement {
  /** The duration of each request, in ms. */
  readonly durations: readonly number[];
  /** The number of runs with news. */
  readonly runs: number;
  /** CPU time per request of the runs' own process, in µs. */
  readonly runCpu: number;
}

type Kind = "without runs" | "with runs";

/** Measures both kinds of rounds, and the runs alone, and prints a table of each. */
export async function benchFleet(options: FleetOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "3G" });
  const { url, pid = Number.NaN, server } = database;
  const { providers, charges, connections } = options;
  log(`filling a database with ${providers} providers and rolling it up ...`);
  const fleet = await createFixture(url, "fleet", { ...SMALL, providers, charges });
  const load = `${connections} connections, a key drawn at random for each request`;
  console.log(`\n${server.engine} ${server.version}, ${providers} providers, REST, ${load}`);
  await measureFleet(fleet, pid, options);
}

/** Measures on a database that is filled already. */
export async function measureFleet(
  { url, keys }: Fixture,
  databasePid: number,
  options: FleetOptions,
): Promise<void> {
  const { seconds, connections, providers, rounds } = options;
  const some = Math.ceil(providers * NEWS);
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(createPool(parseDatabaseUrl(url)), (knex) => knex.destroy());
  console.table(await timeRuns(pool, providers, some));
  await reachSteadyState(pool, providers, some);

  const service = stack.use(await startProcess("src/main.ts", { DATABASE_URL: url }));
  let durations: number[] = [];
  const target = `${service.url}/api/provider/revenue`;
  const load = restLoad(target, randomKeys(connections, keys), (duration) =>
    durations.push(duration),
  );
  const peer = { load, pids: [service.pid] };
  stack.use(startWriter(pool, some));

  const runs = stack.use(await startRuns(url));
  await sleep(1_000 * Math.min(START, seconds));
  const measureRound = async (kind: Kind): Promise<Round> => {
    if (kind === "with runs") runs.resume();
    else runs.pause();
    await load(Math.min(WARM_UP, seconds));
    durations = [];
    const [cpuBefore, runsBefore] = [await cpuTime([runs.pid]), runs.count()];
    const measurement = await measure(peer, databasePid, seconds);
    return {
      ...measurement,
      durations,
      runs: runs.count() - runsBefore,
      runCpu: ((await cpuTime([runs.pid])) - cpuBefore) / durations.length,
    };
  };
  const results: Record<Kind, Round[]> = { "without runs": [], "with runs": [] };
  // The first of each is a warm-up. Which kind comes first alternates.
  for (let round = 0; round <= rounds; round++) {
    const kinds: Kind[] = ["without runs", "with runs"];
    for (const kind of round % 2 === 0 ? kinds : kinds.reverse()) {
      const result = await measureRound(kind);
      if (round > 0) results[kind].push(result);
    }
  }
  console.table(Object.fromEntries(Object.entries(results).map(([kind, all]) => [kind, row(all)])));
  // The second line varies less on a machine that is shared: it does not depend on free time.
  const speed = compare(results, ({ requestsPerSecond }) => requestsPerSecond);
  const cost = compare(results, (round) => 1 / (round.cpu + round.databaseCpu + round.runCpu));
  console.log(`requests/s, with ÷ without runs: ${speed}`);
  console.log(`requests per CPU second, with ÷ without runs: ${cost}`);
}

/** The durations of runs alone: without news, and with news of some providers. */
async function timeRuns(database: Knex, providers: number, some: number) {
  const run = () => time(() => rollUp(database, { margin: 0, seesTransactions: true }));
  const [idle, next]: [number[], number[]] = [[], []];
  for (let count = 0; count < RUNS; count++) {
    idle.push(await run());
    await addChargesToSome(database, some);
    next.push(await run());
  }
  const summarize = (times: readonly number[]) => ({
    "run (ms)": quantile(times, 0.5).toFixed(1),
    "per provider (ms)": (quantile(times, 0.5) / providers).toFixed(3),
  });
  return { "no news": summarize(idle), [`${some} with news`]: summarize(next) };
}

/** A figure of the rounds with runs, divided by that of those without: median, least and most. */
function compare(results: Readonly<Record<Kind, Round[]>>, value: (round: Round) => number) {
  const without = results["without runs"].map(value);
  const ratios = results["with runs"].map(
    (round, index) => value(round) / (without[index] ?? Number.NaN),
  );
  const [median, least, most] = [0.5, 0, 1].map((part) => quantile(ratios, part).toFixed(2));
  return `${median} (median of the rounds, ${least} to ${most})`;
}

/** The medians of rounds; the durations are those of all their requests. */
function row(all: readonly Round[]) {
  const of = (value: (round: Round) => number) => quantile(all.map(value), 0.5);
  const durations = all.flatMap((round) => round.durations);
  return {
    "requests/s": Math.round(of((round) => round.requestsPerSecond)),
    "p50 (ms)": quantile(durations, 0.5).toFixed(1),
    "p99 (ms)": quantile(durations, 0.99).toFixed(1),
    "CPU/request (µs)": Math.round(of((round) => round.cpu)),
    "database CPU/request (µs)": Math.round(of((round) => round.databaseCpu)),
    runs: of((round) => round.runs),
    "runs' CPU/request (µs)": Math.round(of((round) => round.runCpu)),
  };
}
