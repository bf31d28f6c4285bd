/** Every response equals the raw ledger of its snapshot, while writers and rollup runs compete. */
import { afterAll, expect, it } from "vitest";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { testPool } from "../../../support/database.ts";
import { until } from "../../../support/poll.ts";
import { addBulk, type Bulk } from "../../../support/rollup/bulk.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { type Compared, createComparison } from "../../../support/rollup/snapshot-oracle.ts";
import { SEEDED } from "../../../support/seed.ts";
import { SOAK } from "../../../support/soak.ts";
import type { StatementName } from "../../../support/statements.ts";
import { databaseOfFile } from "../../file-database.ts";
import { killRollups, runRollups } from "./rollup-runs.ts";
import { write } from "./writers.ts";

/** How often everything has to happen before the test ends. */
const ENOUGH = 2 * SOAK;
/** In ms: longer than any writer's transaction is open. */
const MARGIN = 2_000;
const BULKS: readonly Bulk[] = [
  { provider: 1, servers: 8, instances: 12, charges: 700, rentals: 100 },
  { provider: 2, servers: 2, instances: 3, charges: 400, rentals: 60 },
  { provider: 3, servers: 3, instances: 4, charges: 250, rentals: 40 },
];

const { url, knex } = await databaseOfFile();
const [writers, readers] = [testPool(url), testPool(url)];
afterAll(() => Promise.all([writers, readers].map((pool) => pool.destroy())));

/** Compares one service instance until the signal aborts. */
async function compareUntil(signal: AbortSignal, results: Compared[]): Promise<void> {
  const compare = createComparison(readers);
  for (let turn = 0; !signal.aborted; turn++) {
    // Each provider twice in a row, so that the second comparison can use the sums of the first.
    const { provider } = BULKS[(turn >> 1) % BULKS.length] as Bulk;
    results.push(await compare(String(provider)));
  }
}

it(`responses are exact while rows commit late, backdated and out of order, and rollup runs overlap and are cut off ${SEEDED}`, async () => {
  // The first two providers have a rollup from the start; that of the third is built meanwhile.
  await addBulk(knex, BULKS.slice(0, 2));
  await rollUp(knex, { margin: MARGIN });
  await addBulk(knex, BULKS.slice(2));
  const stop = new AbortController();
  const { signal } = stop;
  const results: Compared[] = [];
  let killedRuns = 0;
  /** While three comparisons are made. They use the same cached sums then. */
  const pause = () => {
    const enough = results.length + 3;
    return until(() => signal.aborted || results.length >= enough);
  };
  const tasks = [
    ...BULKS.flatMap((bulk) => [1, 2].map(() => write(writers, bulk, MARGIN, signal))),
    ...[1, 2].map(() => compareUntil(signal, results)),
    runRollups(knex, MARGIN, signal, pause),
    killRollups(url, MARGIN, signal, pause, () => killedRuns++),
  ];
  // The first task that fails stops the others.
  for (const task of tasks) task.catch(() => stop.abort());
  const count = (of: (result: Compared) => boolean) => results.filter(of).length;
  /** Whether the first overview, or breakdown, used sums of an earlier snapshot. */
  const usedCache = (statements: readonly StatementName[] = []) =>
    statements.length === 2 && statements[1]?.startsWith("cached") === true;
  /** The cache was used across snapshots, and was outdated, while watermarks moved: they do when a writer has committed. */
  const counts = () => [
    killedRuns,
    new Set(results.map(({ watermark }) => watermark)).size,
    count(({ statements }) => statements.some((names) => names.at(-1)?.startsWith("full"))),
    count(({ statements: [overview] }) => usedCache(overview)),
    count(({ statements: [, breakdown] }) => usedCache(breakdown)),
  ];
  await until(() => signal.aborted || Math.min(...counts()) >= ENOUGH);
  stop.abort();
  await Promise.all(tasks);

  await rollUp(knex, { margin: 0 });
  for (const { provider } of BULKS) {
    expect(await Array.fromAsync(verify(knex, String(provider)))).toEqual([]);
    await createComparison(readers)(String(provider));
  }
});
