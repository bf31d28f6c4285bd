/**
 * What the service does with a core, beside what one might have instead: a Fastify route that
 * runs the same SQL and builds the same JSON, written by hand; a gateway of its own that calls
 * the service over gRPC; and, as the limit of such a stack, `SELECT 1` with a static answer.
 */
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { createFixture, type Fixture } from "./fixture.ts";
import { driveGrpc } from "./grpc-load.ts";
import { fillLedger, LARGE, SMALL } from "./ledger.ts";
import { startProcess } from "./process.ts";
import { driveRest } from "./rest-load.ts";
import { type Figures, inTurns, type Peer, type Turns } from "./turns.ts";

export interface PeersOptions extends Turns {
  readonly connections: number;
  /** How many charges the provider with 200 servers has. */
  readonly charges: number;
}

const OVERVIEW = "/api/provider/revenue";
const BREAKDOWN = "/api/provider/revenue/servers";

export async function benchPeers(options: PeersOptions): Promise<void> {
  const say = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ say, bufferPool: "1G" });
  const { url, pid = Number.NaN, server } = database;
  say("filling two databases ...");
  const small = await createFixture(url, "small", SMALL.providers, (knex) =>
    fillLedger(knex, SMALL),
  );
  const large = await createFixture(url, "large", LARGE.providers, (knex) =>
    fillLedger(knex, { ...LARGE, charges: options.charges }),
  );
  const { rounds, seconds, connections } = options;
  say(`${rounds} rounds of ${seconds} s for each, in turns, ${connections} connections`);
  console.log(`\n${server.engine} ${server.version}, ${connections} connections, medians`);

  await using smallPeers = await startPeers(small);
  await using largePeers = await startPeers(large);
  const one = (fixture: Fixture) => Array(connections).fill(fixture.keys[0]);
  const each = Array.from(
    { length: connections },
    (_, i) => small.keys[i % small.keys.length] ?? "",
  );
  for (const [title, peers, keys, path, rpc] of [
    ["Overview, a small provider", smallPeers, one(small), OVERVIEW, "GetOverview"],
    [
      "Overview, another small provider on each connection",
      smallPeers,
      each,
      OVERVIEW,
      "GetOverview",
    ],
    ["Overview, 200 servers", largePeers, one(large), OVERVIEW, "GetOverview"],
    [
      "30 days, 200 servers and 800 instances",
      largePeers,
      one(large),
      BREAKDOWN,
      "GetServerBreakdown",
    ],
  ] as const) {
    say(title);
    const figures = await inTurns(await peers.asked(path, rpc, keys), pid, options);
    console.log(`\n${title}`);
    console.table(table(figures));
  }
}

/** The peers on one database, each in a process of its own. */
async function startPeers({ url }: Fixture) {
  const stack = new AsyncDisposableStack();
  const start = async (script: string, env = {}) =>
    stack.use(await startProcess(script, { DATABASE_URL: url, ...env }));
  const service = await start("src/main.ts");
  const handWritten = await start("bench/hand-written.ts");
  const proxy = await start("bench/proxy.ts", { UPSTREAM_GRPC_PORT: String(service.grpcPort) });
  const limit = await start("bench/limit.ts");
  return {
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
    async asked(path: string, rpc: string, keys: readonly string[]): Promise<Record<string, Peer>> {
      const urls = [service.url, proxy.url];
      if (path === OVERVIEW) urls.push(handWritten.url);
      const size = await sameAnswer(
        urls.map((url) => url + path),
        keys[0] ?? "",
      );
      return {
        "service, REST": { drive: driveRest(service.url + path, keys), pids: [service.pid] },
        "service, gRPC": { drive: driveGrpc(service.grpcPort, rpc, keys), pids: [service.pid] },
        ...(path === OVERVIEW && {
          "hand-written": {
            drive: driveRest(handWritten.url + path, keys),
            pids: [handWritten.pid],
          },
        }),
        "proxying gateway": {
          drive: driveRest(proxy.url + path, keys),
          pids: [proxy.pid, service.pid],
        },
        limit: { drive: driveRest(`${limit.url}/${size}`, keys), pids: [limit.pid] },
      };
    },
  };
}

/**
 * How long the answer is, in bytes.
 *
 * @throws Error where a peer does not build the very JSON of the first; a period's default
 * start and end, which are the instant of the call, aside
 */
async function sameAnswer(urls: readonly string[], key: string): Promise<number> {
  const answers = await Promise.all(
    urls.map(async (url) => {
      const response = await fetch(url, { headers: { "x-api-key": key } });
      return (await response.text()).replace(/"(start|end)Date":"[^"]*"/g, "");
    }),
  );
  for (const answer of answers) {
    if (answer !== answers[0]) throw new Error(`the answers differ:\n${answers[0]}\n${answer}`);
  }
  return Buffer.byteLength(answers[0] ?? "");
}

function table(figures: Readonly<Record<string, Figures>>) {
  const base = figures["service, REST"]?.perSecond ?? Number.NaN;
  return Object.fromEntries(
    Object.entries(figures).map(([name, { perSecond, cpu, databaseCpu }]) => [
      name,
      {
        "requests/s": Math.round(perSecond),
        "service ÷ it": (base / perSecond).toFixed(2),
        "CPU/request (µs)": Math.round(cpu),
        "database's (µs)": Math.round(databaseCpu),
      },
    ]),
  );
}
