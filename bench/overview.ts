/**
 * How much of a hand-written route's throughput the service reaches: the REST overview of
 * a small provider, beside a Fastify route that runs the same SQL and builds the same JSON,
 * and beside `SELECT 1` with a static answer, the limit of such a stack.
 */
import { createKey, migrate, rollUp, seed } from "../dev/demo/setup.ts";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { type Load, loadInTurns } from "./load.ts";
import { startProcess } from "./process.ts";

/** The demo's small provider. */
const PROVIDER = "2";
const PATH = "/api/provider/revenue";

export async function benchOverview(load: Load): Promise<void> {
  const say = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ say, bufferPool: "512M" });
  await migrate(database.url);
  await seed(database.url);
  await rollUp(database.url);
  const key = await createKey(database.url, PROVIDER);

  await using service = await startProcess("src/main.ts", database.url);
  await using handWritten = await startProcess("bench/hand-written.ts", database.url);
  await using limit = await startProcess("bench/limit.ts", database.url);
  const peers = { service, "hand-written": handWritten, limit };
  await sameAnswer(peers.service.url, peers["hand-written"].url, key);

  say(`${load.rounds} rounds of ${load.seconds} s each, ${load.connections} connections`);
  const rates = await loadInTurns(peers, PATH, key, load);
  const base = rates["hand-written"];
  console.log(
    `\nGET ${PATH}, small provider, ${database.server.engine} ${database.server.version}`,
  );
  console.table(
    Object.fromEntries(
      Object.entries(rates).map(([name, rate]) => [
        name,
        { "requests/s (median)": Math.round(rate), "of hand-written": (rate / base).toFixed(2) },
      ]),
    ),
  );
}

/** @throws Error where the peer does not build the very JSON of the service */
async function sameAnswer(service: string, peer: string, key: string): Promise<void> {
  const [expected, actual] = await Promise.all(
    [service, peer].map(async (url) => {
      const response = await fetch(url + PATH, { headers: { "x-api-key": key } });
      return response.text();
    }),
  );
  if (expected !== actual) {
    throw new Error(`the answers differ:\n${expected}\n${actual}`);
  }
}
