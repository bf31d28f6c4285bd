/**
 * Measures what a page of charges and of payouts costs the database, by the size of the ledger and by where the page
 * begins, ledgers in turns; and the memory of the service while all charges are read as CSV, page by page.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Knex } from "knex";
import { startPrivateDatabase } from "../dev/private-database/private-database.ts";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { BEFORE_ALL } from "../src/db/sql-time.ts";
import { chargesOfDefault, chargesOfMaximum } from "../src/revenue/charges/queries.ts";
import { type Place, parametersOf } from "../src/revenue/pages.ts";
import { payoutsOfDefault, payoutsOfMaximum } from "../src/revenue/payouts/queries.ts";
import { createLedgers } from "./fixture.ts";
import { startProcess } from "./process.ts";
import { quantile } from "./rounds.ts";

/** The options of `npm run bench -- pages`. */
export interface PagesOptions {
  /** The numbers of charges of the two ledgers. */
  readonly charges: readonly number[];
  /** How many charges of another ledger, of the first size, lie on one instant. */
  readonly together: number;
  readonly rounds: number;
  /** The pages of each kind in a round. */
  readonly pages: number;
}

const LISTS = {
  charges: { time: "charged_at", statements: [chargesOfDefault, chargesOfMaximum] },
  payouts: { time: "paid_at", statements: [payoutsOfDefault, payoutsOfMaximum] },
} as const;
type List = keyof typeof LISTS;

const INSTANT = "2026-01-01 00:00:00.000";
const SHOP = { providers: 1, servers: 200, instances: 4 };

/** Measures, and prints tables. */
export async function benchPages({ charges: sizes, together, rounds, pages }: PagesOptions) {
  const log = (line: string) => console.error(line);
  await using database = await startPrivateDatabase({ log, bufferPool: "2G" });
  await using stack = new AsyncDisposableStack();
  const ledgers: [name: string, knex: Knex][] = [];
  const served = { url: "", key: "" };
  for (const [nth, name] of [...sizes.map(String), `${together} on one instant`].entries()) {
    const size = { ...SHOP, charges: sizes[nth] ?? sizes[0] ?? 0 };
    const { url, keys } = await createLedgers(database.url, `pages_${nth}`, size);
    const knex = stack.adopt(createPool(parseDatabaseUrl(url)), (pool) => pool.destroy());
    if (nth === sizes.length) await addTogether(knex, together);
    await copyToPayouts(knex);
    ledgers.push([name, knex]);
    if (nth === sizes.length - 1) Object.assign(served, { url, key: keys[0] });
    log(`filled ${name}`);
  }
  const { engine, version } = database.server;
  for (const list of ["charges", "payouts"] as const) {
    for (const [large, rows] of [50, 1_000].entries()) {
      const count = large === 0 ? pages : Math.ceil(pages / 10);
      const cost = await measure(list, large, ledgers, database.pid ?? 0, rounds, count);
      console.log(`\n${engine} ${version}: ${list}, ${rows} rows, CPU of the database, µs`);
      console.table(tableOf(cost, ledgers[0]?.[0] ?? ""));
    }
  }
  for (const coding of ["identity", "gzip"]) {
    console.log(await memoryOfCsv(served.url, served.key, coding));
  }
}

async function addTogether(knex: Knex, count: number): Promise<void> {
  const copy = `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross, recorded_at)
    SELECT provider_id, server_id, instance_id, '${INSTANT}', gross, recorded_at FROM charges WHERE charged_at`;
  await knex.raw(`${copy} <> '${INSTANT}' LIMIT 50000`);
  for (let rows = 50_000; rows < count; rows *= 2) {
    await knex.raw(`${copy} = '${INSTANT}' LIMIT ${Math.min(rows, count - rows)}`);
  }
}

/** A payout at the time of each charge. */
async function copyToPayouts(knex: Knex): Promise<void> {
  await knex.raw("DELETE FROM payouts");
  await knex.raw(
    `INSERT INTO payouts (provider_id, public_id, paid_at, amount, method, status)
     SELECT provider_id, CONCAT('po_', id), charged_at, gross, 'Bank Transfer', 'Completed' FROM charges`,
  );
  await knex.raw("ANALYZE TABLE charges, payouts");
}

/** Places in a list: the first page's, the middle's, and that of the last whole page; around the crowd, within it. */
async function placesOf(knex: Knex, list: List, rows: number): Promise<Record<string, Place>> {
  const { time } = LISTS[list];
  const [[{ count }]] = await knex.raw(`SELECT COUNT(*) AS count FROM ${list}`);
  const [[{ crowd }]] = await knex.raw(
    `SELECT COUNT(*) AS crowd FROM ${list} WHERE ${time} = '${INSTANT}'`,
  );
  const [[{ newer }]] = await knex.raw(
    `SELECT COUNT(*) AS newer FROM ${list} WHERE ${time} > '${INSTANT}'`,
  );
  const inCrowd = Number(crowd) > rows * 3;
  const depths = inCrowd
    ? [newer, Number(newer) + crowd / 2, Number(newer) + Number(crowd) - 2 * rows]
    : [0, count / 2, count - 2 * rows];
  const places: [string, Place][] = [];
  for (const [nth, depth] of depths.entries()) {
    const [[place]] = await knex.raw(
      `SELECT ${time} AS at, id FROM ${list} WHERE provider_id = 1
       ORDER BY ${time} DESC, id DESC LIMIT 1 OFFSET ${Math.floor(Number(depth))}`,
    );
    places.push([["first", "middle", "last"][nth] ?? "", { at: place.at, id: String(place.id) }]);
  }
  return Object.fromEntries(places);
}

/** The samples of each place and ledger, in µs of CPU for a page. */
type Costs = Map<string, Map<string, number[]>>;

async function measure(
  ...[list, large, ledgers, pid, rounds, pages]: [
    ...[list: List, large: number, ledgers: readonly [string, Knex][]],
    ...[pid: number, rounds: number, pages: number],
  ]
): Promise<Costs> {
  const statement = LISTS[list].statements[large === 0 ? 0 : 1];
  await using held = new AsyncDisposableStack();
  const kinds: [place: string, ledger: string, run: () => Promise<unknown>][] = [];
  for (const [ledger, knex] of ledgers) {
    const places = await placesOf(knex, list, large === 0 ? 50 : 1_000);
    const connection = await knex.client.acquireConnection();
    held.defer(() => knex.client.releaseConnection(connection));
    const query = async (sql: string, bindings: readonly unknown[]) => {
      const values = [...bindings];
      const [rows] = await connection.promise().execute({ sql, values, rowsAsArray: true });
      return rows;
    };
    for (const [name, place] of Object.entries(places)) {
      const values = { provider: "1", start: BEFORE_ALL, ...parametersOf(place) };
      kinds.push([name, ledger, () => statement.run(query as never, values)]);
    }
  }
  const costs: Costs = new Map();
  for (let round = 0; round <= rounds; round++) {
    for (const [place, ledger, run] of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const before = threadTime(pid);
      for (let page = 0; page < pages; page++) await run();
      const cost = (threadTime(pid) - before) / pages / 1_000;
      const ofPlace = costs.getOrInsertComputed(place, () => new Map());
      if (round > 0) ofPlace.getOrInsertComputed(ledger, () => []).push(cost); // the first is a warm-up
    }
  }
  return costs;
}

/** The CPU time of all threads of a process, in ns, as the scheduler counts it. */
function threadTime(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => sum + timeOf(`${tasks}/${task}`), 0);
}

/** Zero for a thread that has just ended. */
function timeOf(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]);
  } catch {
    return 0;
  }
}

/** A row for each place: medians, and in brackets that of the ratios to the first ledger in the same round. */
function tableOf(costs: Costs, first: string) {
  const rows = [...costs].map(([place, ledgers]) => {
    const base = ledgers.get(first) ?? [];
    const cells = [...ledgers].map(([ledger, samples]) => {
      const ratio = quantile(
        samples.map((sample, round) => sample / (base[round] ?? Number.NaN)),
        0.5,
      );
      return [ledger, `${Math.round(quantile(samples, 0.5))} (${ratio.toFixed(2)})`];
    });
    return [place, Object.fromEntries(cells)];
  });
  return Object.fromEntries(rows);
}

/** Reads a million charges as CSV, 1,000 at a time. */
async function memoryOfCsv(url: string, key: string, coding: string): Promise<string> {
  await using service = await startProcess("src/main.ts", { DATABASE_URL: url });
  const resident = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1]) / 1_024;
  const memory: number[] = [];
  let [token, rows] = ["", 0];
  for (let page = 0; page < 1_000; page++) {
    const query = new URLSearchParams({
      startDate: "2000-01-01",
      pageSize: "1000",
      pageToken: token,
    });
    const headers = { "x-api-key": key, accept: "text/csv", "accept-encoding": coding };
    const target = `${service.url}/api/provider/revenue/charges?${query}`;
    const response = await fetch(target, { headers });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    rows += (await response.text()).split("\r\n").length - 2;
    token = response.headers.get("next-page-token") ?? "";
    memory.push(resident());
    if (token === "") break;
  }
  const mb = (value = Number.NaN) => `${value.toFixed(0)} MB`;
  const growth = mb(Math.max(...memory) - (memory[0] ?? 0));
  return `CSV of ${rows} charges, ${coding}: resident ${mb(memory[0])} after the first page, ${mb(Math.max(...memory))} at most (+${growth}), ${mb(memory.at(-1))} after the last`;
}
