/**
 * What an overview costs the database while few callers wait, and while a thousand do. Each call is of
 * another provider, so nothing is coalesced. A service that answers a backlog with more or larger
 * statements falls behind for good: its cost per call must not rise with the backlog. Calls that are
 * refused (more than 500 of an address that wait for their key) are not counted.
 */
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createFixture } from "./fixture.ts";
import { SMALL } from "./ledger.ts";
import { randomKeys } from "./load/keys.ts";
import { restLoad } from "./load/rest.ts";
import { startProcess } from "./process.ts";
import { type Measurement, measureInRounds, type Peer, type Rounds } from "./rounds.ts";

/** The options of `npm run bench -- backlog`. */
export interface BacklogOptions extends Rounds {
  /** The number of callers that wait. */
  readonly connections: number;
  /** The number of small providers. */
  readonly providers: number;
  /** Above it the program exits with 1. */
  readonly maxRatio: number;
}

/** The number of callers that make no backlog: the database's connections are busy, and few wait. */
const FEW = 32;

/** Measures both in turns. */
export async function benchBacklog(options: BacklogOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "1G" });
  const { connections, providers, maxRatio } = options;
  const { url, keys } = await createFixture(database.url, "backlog", { ...SMALL, providers });
  const env = { DATABASE_URL: url, MAX_CALLS: "10000" };
  await using service = await startProcess("src/main.ts", env);
  const callers = (count: number): Peer => ({
    load: restLoad(`${service.url}/api/provider/revenue`, randomKeys(count, keys), () => {}, true),
    pids: [service.pid],
  });
  const { few, many } = await measureInRounds(
    { few: callers(FEW), many: callers(connections) },
    database.pid ?? Number.NaN,
    options,
  );
  const { engine, version } = database.server;
  console.log(`\n${engine} ${version}, overviews of ${providers} providers at random, medians`);
  console.table({ [`${FEW} callers`]: row(few), [`${connections} callers`]: row(many) });
  const ratio = many.databaseCpu / few.databaseCpu;
  console.log(`database CPU per request, many ÷ few: ${ratio.toFixed(2)} (at most ${maxRatio})`);
  if (ratio > maxRatio) process.exitCode = 1;
}

function row({ requestsPerSecond, cpu, databaseCpu }: Measurement) {
  return {
    "requests/s": Math.round(requestsPerSecond),
    "CPU/request (µs)": Math.round(cpu),
    "database CPU/request (µs)": Math.round(databaseCpu),
  };
}
