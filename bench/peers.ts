/**
 * Compares the service's throughput and CPU time with those of floors: `SELECT 1` with a static response, and grpc-js
 * with the same response from memory.
 */
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createFixture, type Fixture } from "./fixture.ts";
import { LARGE, type LedgerSize, SMALL } from "./ledger.ts";
import { grpcLoad } from "./load/grpc.ts";
import { type Load, restLoad } from "./load/rest.ts";
import { startProcess } from "./process.ts";
import { type Measurement, measureInRounds, type Peer, type Rounds } from "./rounds.ts";

/** The options of `npm run bench -- peers`. */
export interface PeersOptions extends Rounds {
  readonly connections: number;
  /** The number of charges of the provider with 200 servers. */
  readonly charges: number;
}

/** The measured RPCs and their REST paths. */
const OVERVIEW = { rpc: "GetOverview", path: "/api/provider/revenue" };
const BREAKDOWN = { rpc: "GetServerBreakdown", path: "/api/provider/revenue/servers" };
type Target = typeof OVERVIEW;
/** A client of gRPC has one connection to a server, for all its calls. */
const CALLS_AT_ONCE = 8;

/** Measures all peers and prints a table per scenario. */
export async function benchPeers(options: PeersOptions): Promise<void> {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "1G" });
  const { url, pid = Number.NaN, server } = database;
  const { rounds, seconds, connections, charges } = options;
  log(`${rounds} rounds of ${seconds} s per peer, interleaved, ${connections} connections`);
  console.log(`\n${server.engine} ${server.version}, ${connections} connections, medians`);

  const measure = async (name: string, size: LedgerSize, targets: Record<string, Target>) => {
    const fixture = await createFixture(url, name, size);
    await using peers = await startPeers(fixture);
    for (const [title, target] of Object.entries(targets)) {
      log(title);
      const peersOf = await peers.serving(target, { connections, key: fixture.keys[0] ?? "" });
      console.log(`\n${title}`);
      console.table(table(await measureInRounds(peersOf, pid, options)));
    }
  };
  await measure("small", SMALL, { "Overview, a small provider": OVERVIEW });
  await measure(
    "large",
    { ...LARGE, charges },
    {
      "Overview, 200 servers": OVERVIEW,
      "30 days, 200 servers and 800 instances": BREAKDOWN,
    },
  );
}

/** Starts the peers on a database. None shares a process: what one has served before changes its costs. */
async function startPeers({ url }: Fixture) {
  await using stack = new AsyncDisposableStack();
  const start = async (script: string, env = {}) =>
    stack.use(await startProcess(script, { DATABASE_URL: url, ...env }));
  const [service, grpcService, multiplexed, baseline] = await Promise.all([
    start("src/main.ts"),
    start("src/main.ts"),
    start("src/main.ts"),
    start("bench/servers/baseline.ts"),
  ]);
  const answered = { UPSTREAM_GRPC_PORT: String(service.grpcPort) };
  const grpcFloor = await start("bench/servers/grpc-floor.ts", answered);
  const processes = stack.move();
  return {
    [Symbol.asyncDispose]: () => processes.disposeAsync(),
    /** The peers that serve a target. */
    async serving({ path, rpc }: Target, requests: Load): Promise<Record<string, Peer>> {
      const rest = (peer: typeof service) => ({
        load: restLoad(peer.url + path, requests),
        pids: [peer.pid],
      });
      const grpc = ({ grpcPort, pid }: typeof service, load: Load, calls: number) => ({
        load: grpcLoad(grpcPort, rpc, load, calls),
        pids: [pid],
      });
      const fewer = { ...requests, connections: Math.ceil(requests.connections / CALLS_AT_ONCE) };
      const headers = { "x-api-key": requests.key };
      const response = await fetch(service.url + path, { headers });
      const size = (await response.arrayBuffer()).byteLength;
      return {
        "service, REST": rest(service),
        "service, gRPC": grpc(grpcService, requests, 1),
        [`service, gRPC, ${CALLS_AT_ONCE} calls at once`]: grpc(multiplexed, fewer, CALLS_AT_ONCE),
        "grpc-js, from memory": grpc(grpcFloor, requests, 1),
        baseline: { load: restLoad(`${baseline.url}/${size}`, requests), pids: [baseline.pid] },
      };
    },
  };
}

function table(measurements: Readonly<Record<string, Measurement>>) {
  const base = measurements["service, REST"]?.requestsPerSecond ?? Number.NaN;
  return Object.fromEntries(
    Object.entries(measurements).map(([name, { requestsPerSecond, cpu, databaseCpu }]) => [
      name,
      {
        "requests/s": Math.round(requestsPerSecond),
        "service ÷ peer": (base / requestsPerSecond).toFixed(2),
        "CPU/request (µs)": Math.round(cpu),
        "database CPU/request (µs)": Math.round(databaseCpu),
      },
    ]),
  );
}
