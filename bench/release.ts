/**
 * Compares this version with the last release: CPU time of each RPC and of runs of the rollups, in turns, on the
 * same ledger. A report, which `.ci/run` prints: it fails only if a version does not run at all.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Connection, createConnection } from "mysql2/promise";
import { findRelease, unpackRelease } from "../dev/last-release.ts";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";
import { issueKey } from "../src/auth/key-registry.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { bindRoutes } from "../src/gateway/transcoding/routes.ts";
import { createDatabase } from "./fixture.ts";
import { addCharges, fillLedger } from "./ledger.ts";
import { grpcLoad } from "./load/grpc.ts";
import { changeRollup, sendRequest } from "./load/requests.ts";
import { type PeerProcess, startProcess } from "./process.ts";
import { cpuTime } from "./rounds.ts";

/** The options of `npm run bench -- release`. */
export interface ReleaseOptions {
  /** How long calls are measured, in all. */
  readonly seconds: number;
  /** After how long no further round begins. */
  readonly limit: number;
  readonly rounds: number;
  readonly charges: number;
}

/** A version of the code, with a database of its own. */
interface Version {
  readonly folder: string;
  readonly url: string;
  readonly key: string;
  readonly connection: Connection;
}

/** The release, and this version. */
type Pair<T> = readonly [release: T, current: T];

/** CPU time in µs of a number of calls or runs. */
interface Cost {
  readonly service: number;
  readonly database: number;
  readonly times: number;
}

/** The costs of each version, by what was measured. */
type Costs = Map<string, [Cost, Cost]>;

/** Measures, and prints two tables; or says why it is not done. */
export async function benchRelease(options: ReleaseOptions): Promise<void> {
  const release = findRelease();
  if (!release.isHere) {
    const fetch = `git fetch --depth 1 origin ${release.commit}`;
    console.log(`!! NOT DONE, because the commit of ${release.version} is not here: ${fetch}`);
    return;
  }
  const { folder, remove } = unpackRelease(release.commit);
  await using stack = new AsyncDisposableStack();
  stack.defer(remove);
  const database = stack.use(
    await startPrivateDatabase({ log: console.error, bufferPool: "512M" }),
  );
  const prepare = async (name: string, of: string): Promise<Version> => {
    const url = await createDatabase(database.url, name);
    await runCommand(of, ["src/cli/migrate.ts"], url);
    const pool = createPool(parseDatabaseUrl(url));
    await fillLedger(pool, { providers: 1, servers: 20, instances: 4, charges: options.charges });
    const { key } = await issueKey(pool, "1", "bench", null);
    await pool.destroy();
    const connection = await createConnection(url);
    stack.defer(() => connection.end());
    return { folder: of, url, key, connection };
  };
  const versions: Pair<Version> = [
    await prepare("last_release", folder),
    await prepare("current", join(import.meta.dirname, "..")),
  ];
  const databasePid = database.pid ?? Number.NaN;
  const runs = await measureRuns(versions, databasePid);
  const title = `CPU of this version ÷ that of ${release.version}, in turns; below 1.1 it may be noise`;
  console.log(`\n${title}\n${database.server.engine} ${database.server.version}`);
  console.table(tableOf(runs));
  console.table(await sizesOf(versions));
  const calls = await measureCalls(versions, databasePid, options, stack);
  console.table(tableOf(calls));
}

/** Runs of the command: the first build, and others with and without news. */
async function measureRuns(versions: Pair<Version>, databasePid: number): Promise<Costs> {
  const costs: Costs = new Map();
  const measure = async (name: string, news: number, turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      for (const [nth, { folder, url }] of inTurn(versions, turn)) {
        await withPool(url, (pool) => addCharges(pool, news));
        const before = await cpuTime([databasePid]);
        const service = await runCommand(folder, ["src/cli/rollup.ts", "--margin", "0"], url);
        add(costs, name, nth, {
          service,
          database: (await cpuTime([databasePid])) - before,
          times: 1,
        });
      }
    }
  };
  await measure("rollups: first build", 0, 1);
  await measure("rollups: run without news", 0, 2);
  await measure("rollups: run with 250 new charges", 250, 2);
  return costs;
}

/** Each RPC, with its sums cached and after a run; over gRPC the overview. */
async function measureCalls(
  versions: Pair<Version>,
  databasePid: number,
  { seconds, rounds, limit }: ReleaseOptions,
  stack: AsyncDisposableStack,
): Promise<Costs> {
  const services: PeerProcess[] = [];
  for (const { folder, url } of versions) {
    const script = join(folder, "src/main.ts");
    services.push(stack.use(await startProcess(script, { DATABASE_URL: url })));
  }
  const paths = new Map(
    bindRoutes([RevenueService]).map(({ method, path }) => [method.name, path]),
  );
  const kinds = [...paths].flatMap(([rpc, path]) =>
    [false, true].map((changed) => ({
      name: `${rpc}${changed ? ", after a run" : ""}`,
      path,
      changed,
    })),
  );
  const costs: Costs = new Map();
  const slice = seconds / rounds / (2 * kinds.length + 2);
  for (let round = 0; round <= rounds; round++) {
    if (round === 1) costs.clear(); // the warm-up
    if (round > 1 && performance.now() > limit * 1_000) break;
    for (const [nth, { key, connection }] of inTurn(versions, round)) {
      const { url = "", pid = Number.NaN, grpcPort = Number.NaN } = services[nth] ?? {};
      const measure = async (name: string, load: () => Promise<number>) => {
        const cpu = () => Promise.all([cpuTime([pid]), cpuTime([databasePid])]);
        const before = await cpu();
        const times = await load();
        const after = await cpu();
        const cost = { service: after[0] - before[0], database: after[1] - before[1], times };
        add(costs, name, nth, cost);
      };
      for (const { name, path, changed } of kinds) {
        const isThere = await fetch(url + path, { headers: { "x-api-key": key } });
        await isThere.arrayBuffer();
        if (isThere.status === 404) continue;
        await measure(name, async () => {
          let times = 0;
          for (const end = performance.now() + slice * 1_000; performance.now() < end; times++) {
            if (changed) await changeRollup(connection);
            await sendRequest(url + path, key);
          }
          return times;
        });
      }
      const load = grpcLoad(grpcPort, "GetOverview", { connections: 1, key });
      await measure("GetOverview, gRPC", () => load(slice));
    }
  }
  return costs;
}

/** Both versions, the one first in even turns, the other one in odd ones. */
function inTurn<T>(versions: Pair<T>, turn: number): [nth: number, version: T][] {
  const both = [...versions.entries()];
  return turn % 2 === 0 ? both : both.reverse();
}

function add(costs: Costs, name: string, nth: number, cost: Cost): void {
  const none = { service: 0, database: 0, times: 0 };
  const both = costs.getOrInsertComputed(name, () => [none, none]);
  const { service, database, times } = both[nth] ?? none;
  both[nth] = {
    service: service + cost.service,
    database: database + cost.database,
    times: times + cost.times,
  };
}

/** A row for each measured thing: CPU time of this version in ms, and the ratio to the release. */
function tableOf(costs: Costs) {
  const cells = ([release, current]: Pair<Cost>, name: "service" | "database") => {
    const [before, now] = [release[name] / release.times, current[name] / current.times];
    return {
      [`${name} (ms)`]: (now / 1_000).toFixed(2),
      [`${name} ÷ release`]: release.times === 0 ? "new" : (now / before).toFixed(2),
    };
  };
  return Object.fromEntries(
    [...costs].map(([name, pair]) => [
      name,
      { ...cells(pair, "service"), ...cells(pair, "database") },
    ]),
  );
}

/** How much the rollups of each version store. */
async function sizesOf(versions: Pair<Version>) {
  const of = async ({ url, connection }: Version) => {
    const database = new URL(url).pathname.slice(1);
    const [tables] = await connection.query<never[]>(
      "SELECT table_name AS name FROM information_schema.TABLES WHERE table_schema = ? AND table_name LIKE 'rollup%'",
      [database],
    );
    let rows = 0;
    for (const { name } of tables as { name: string }[]) {
      const [[count]] = await connection.query<never[]>(`SELECT COUNT(*) AS count FROM ${name}`);
      rows += Number((count as unknown as { count: number }).count);
    }
    return rows;
  };
  const [before, now] = [await of(versions[0]), await of(versions[1])];
  return { "rollups: rows": { rows: now, "÷ release": (now / before).toFixed(2) } };
}

async function withPool(url: string, use: (pool: ReturnType<typeof createPool>) => Promise<void>) {
  const pool = createPool(parseDatabaseUrl(url));
  await use(pool).finally(() => pool.destroy());
}

/** Tells at its end how much CPU time it has used, in µs. */
const TELLS_CPU = `data:text/javascript,process.on("exit",()=>{
  const {user,system}=process.cpuUsage();console.error("CPU "+(user+system))})`;

/** Runs a command of a version. Resolves to its CPU time in µs. @throws Error with its output if it fails */
async function runCommand(folder: string, args: readonly string[], url: string): Promise<number> {
  const child = spawn(process.execPath, ["--import", TELLS_CPU, ...args], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  if (code !== 0) throw new Error(`${args[0]} of ${folder} ended with ${code}:\n${output}`);
  return Number(/CPU (\d+)/.exec(output)?.[1]);
}
