/** Lists of charges while writers, rollup runs and kills compete: each charge of before once, later ones at most once. */
import { afterAll, expect, it } from "vitest";
import { createRandom } from "../../../../dev/random.ts";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { testPool } from "../../../support/database.ts";
import { chargesOf } from "../../../support/ledger/call.ts";
import { until } from "../../../support/poll.ts";
import { watchProcesses } from "../../../support/process-list.ts";
import { addBulk, type Bulk } from "../../../support/rollup/bulk.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { SEED, SEEDED } from "../../../support/seed.ts";
import { SOAK } from "../../../support/soak.ts";
import { databaseOfFile } from "../../file-database.ts";
import { killRollups, runRollups } from "./rollup-runs.ts";
import { write } from "./writers.ts";

const MARGIN = 2_000;
const BULK: Bulk = { provider: 1, servers: 8, instances: 12, charges: 700, rentals: 100 };
/** How often everything has to happen before the test ends. */
const ENOUGH = 4 * SOAK;

const database = await databaseOfFile();
const { knex } = database;
const writers = testPool(database.url);
/** One connection, so that it is known which one the next page will be read on. */
const readers = testPool(database.url, { maxConnections: 1 });
const processes = await watchProcesses(database.name);
afterAll(async () => {
  await readers.destroy();
  await writers.destroy();
  await processes.close();
});
const { pick, happens } = createRandom(SEED);

interface Page {
  readonly charges: readonly { readonly chargeId: string }[];
  readonly nextPageToken: string;
  readonly startDate: string;
  readonly endDate: string;
}

const datetime = (time: string) => new Date(time).toISOString().slice(0, -1).replace("T", " ");

it(`each charge that was recorded before the first page comes once, later ones at most once ${SEEDED}`, async () => {
  // What writers insert gets an id that a list shows.
  await knex.raw("ALTER TABLE charges ALTER COLUMN public_id SET DEFAULT (UUID())");
  await addBulk(knex, [BULK]);
  await rollUp(knex, { margin: MARGIN });
  const stop = new AbortController();
  const { signal } = stop;
  const counts = { lists: 0, killed: 0, killedRuns: 0, late: 0 };

  const read: Read = createRead(readers);
  const service = createRevenueService(read);
  const signalOfRead = new AbortController().signal;
  const connection = async () => {
    const ask = read(({ query }) => query("SELECT CONNECTION_ID()", [], "test"), {
      signal: signalOfRead,
    });
    return Number((await ask)[0]?.[0]);
  };
  const ask = async (request: object): Promise<Page> =>
    (await chargesOf(service, 1n, request)) as unknown as Page;

  /** Reads all pages, and loses the connection between or during some. */
  async function list(): Promise<void> {
    const request = { startDate: pick(["", "2001-01-01", "0001-01-01"]), pageSize: pick([20, 90]) };
    const before = await knex("charges")
      .where({ provider_id: 1 })
      .select("public_id", "charged_at");
    const pages = [await ask(request)];
    for (let last = pages[0]; last?.nextPageToken && !signal.aborted; last = pages.at(-1)) {
      const page = { ...request, pageToken: last.nextPageToken };
      if (happens(0.3)) {
        const id = await connection();
        const during = happens(0.5) ? ask(page) : undefined;
        await processes.kill(id).catch(() => {}); // it may be gone
        counts.killed++;
        await during;
      }
      pages.push(await ask(page));
    }
    if (signal.aborted) return;
    const [start = "", end = ""] = [pages[0]?.startDate, pages[0]?.endDate].map((time = "") =>
      datetime(time),
    );
    const ids = pages.flatMap(({ charges }) => charges.map(({ chargeId }) => chargeId));
    const listed = new Set(ids);
    expect(listed.size).toBe(ids.length);
    const expected = before
      .filter(({ charged_at }) => start <= charged_at && charged_at <= end)
      .map(({ public_id }) => public_id as string);
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.filter((id) => !listed.has(id))).toEqual([]);
    const known = new Set(expected);
    counts.late += ids.filter((id) => !known.has(id)).length;
    const all = await knex("charges").where({ provider_id: 1 }).pluck("public_id");
    expect([...listed].filter((id) => !all.includes(id))).toEqual([]);
    counts.lists++;
  }

  const pause = () => {
    const enough = counts.lists + 1;
    return until(() => signal.aborted || counts.lists >= enough);
  };
  const lists = async () => {
    while (!signal.aborted) await list();
  };
  const tasks = [
    ...[1, 2].map(() => write(writers, BULK, MARGIN, signal)),
    lists(),
    runRollups(knex, MARGIN, signal, pause),
    killRollups(database.url, MARGIN, signal, pause, () => counts.killedRuns++),
  ];
  for (const task of tasks) task.catch(() => stop.abort());
  // One that was dated back, or that was committed after the list began, came on a later page of some list.
  await until(() => signal.aborted || Math.min(...Object.values(counts)) >= ENOUGH);
  stop.abort();
  await Promise.all(tasks);
});
