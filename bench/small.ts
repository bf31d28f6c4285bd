/**
 * Measures up to how many rows of the ledger an answer without a rollup costs no more than one with a rollup:
 * CPU time of the service and of the database for each answer, providers with and without one in turns.
 */
import { DAY } from "../dev/duration.ts";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { rollUp } from "../src/rollup/write/run.ts";
import { createLedgers } from "./fixture.ts";
import { sendRequest } from "./load/requests.ts";
import { startProcess } from "./process.ts";
import { cpuTime } from "./rounds.ts";

/** The options of `npm run bench -- small`. */
export interface SmallOptions {
  /** The sizes of ledgers, in charges. */
  readonly charges: readonly number[];
  /** The number of providers of each size, half of them without a rollup. */
  readonly providers: number;
  readonly servers: number;
  readonly rounds: number;
}

const since = new Date(Date.now() - 399 * DAY).toISOString().slice(0, 10);
/** The paths of the answers that are compared. */
const PATHS = {
  overview: "",
  "30 days": "/servers",
  "400 days, daily": `/daily?startDate=${since}`,
} as const;

/** Measures, and prints a table. */
export async function benchSmall({ charges: sizes, providers, servers, rounds }: SmallOptions) {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "2G" });
  await using stack = new AsyncDisposableStack();
  const ledgers = sizes.map((charges) => ({ providers, servers, instances: 2, charges }));
  const { url, keys } = await createLedgers(database.url, "small", ...ledgers);
  const pool = stack.adopt(createPool(parseDatabaseUrl(url)), (knex) => knex.destroy());
  await rollUp(pool, { margin: 0, minRows: 1 });
  const [[{ rows }]] = await pool.raw("SELECT COUNT(*) AS `rows` FROM rollup_sums");
  log(`${rows} rows of rollups`);
  for (const table of ["rollups", "rollup_sums"]) {
    await pool.raw(`DELETE FROM ${table} WHERE provider_id % 2 = 0`);
  }
  const service = stack.use(await startProcess("src/main.ts", { DATABASE_URL: url }));
  const ask = (provider: number, path: string) =>
    sendRequest(`${service.url}/api/provider/revenue${path}`, keys[provider - 1] ?? "");
  const costs = new Map<string, Cost>();
  const cpu = () => Promise.all([cpuTime([service.pid]), cpuTime([database.pid ?? Number.NaN])]);
  /** Asks the providers with a rollup, or those without, and adds what that costs. */
  const askAll = async (name: string, path: string, ids: readonly number[]) => {
    const before = await cpu();
    for (const id of ids) await ask(id, path);
    const after = await cpu();
    const cost = costs.get(name) ?? NONE;
    costs.set(name, {
      service: cost.service + after[0] - before[0],
      database: cost.database + after[1] - before[1],
      answers: cost.answers + ids.length,
    });
  };
  for (let round = 0; round <= rounds; round++) {
    if (round === 1) costs.clear(); // the warm-up
    for (const [nth, charges] of sizes.entries()) {
      const ids = Array.from({ length: providers }, (_, id) => nth * providers + id + 1);
      const [raw, stored] = [ids.filter((id) => id % 2 === 0), ids.filter((id) => id % 2 === 1)];
      for (const [name, path] of Object.entries(PATHS)) {
        // Another version, so that no sums are cached.
        await pool.raw("UPDATE rollups SET version = version + 1");
        for (const time of ["first", "repeated"]) {
          const kinds = [
            () => askAll(`${name}, ${time}, ${charges}, raw`, path, raw),
            () => askAll(`${name}, ${time}, ${charges}, stored`, path, stored),
          ];
          for (const measure of round % 2 === 0 ? kinds : kinds.reverse()) await measure();
        }
      }
    }
  }
  const { engine, version } = database.server;
  console.log(`\n${engine} ${version}: CPU of service + database, µs, without ÷ with a rollup`);
  console.table(tableOf(costs, sizes));
}

/** CPU time in µs. */
interface Cost {
  readonly service: number;
  readonly database: number;
  readonly answers: number;
}
const NONE: Cost = { service: 0, database: 0, answers: 0 };

/** A row for each answer, a column for each size. */
function tableOf(costs: ReadonlyMap<string, Cost>, sizes: readonly number[]) {
  const cell = (name: string) => {
    const of = (kind: string) => costs.get(`${name}, ${kind}`) ?? NONE;
    const text = ({ service, database, answers }: Cost) =>
      `${Math.round(service / answers)}+${Math.round(database / answers)}`;
    const each = ({ service, database, answers }: Cost) => (service + database) / answers;
    const [raw, stored] = [of("raw"), of("stored")];
    return `${text(raw)} ÷ ${text(stored)} = ${(each(raw) / each(stored)).toFixed(2)}`;
  };
  const rows = Object.keys(PATHS).flatMap((name) => [`${name}, first`, `${name}, repeated`]);
  return Object.fromEntries(
    rows.map((row) => [
      row,
      Object.fromEntries(sizes.map((charges) => [charges, cell(`${row}, ${charges}`)])),
    ]),
  );
}
