/** Continuous rollup runs, to their end and cut off. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { createRandom } from "../../../../dev/random.ts";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { startDatabaseProxy } from "../../../support/database-proxy.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { SEED } from "../../../support/seed.ts";

const random = createRandom(SEED);

/**
 * Runs rollups until the signal aborts, every fourth as a rebuild.
 *
 * @param pause waits between two runs
 */
export async function runRollups(
  database: Knex,
  margin: number,
  signal: AbortSignal,
  pause: () => Promise<void>,
): Promise<void> {
  for (let runs = 0; !signal.aborted; runs++) {
    await rollUp(database, { margin, rebuild: runs % 4 === 2, signal });
    await pause();
  }
}

/**
 * Starts runs and cuts their connections a random time later, until the signal aborts. To the
 * database, that is the end of a process that was killed.
 *
 * @param pause waits between two runs
 * @param killed called for each run that was not over by then
 */
export async function killRollups(
  url: string,
  margin: number,
  signal: AbortSignal,
  pause: () => Promise<void>,
  killed: () => void,
): Promise<void> {
  while (!signal.aborted) {
    const proxy = await startDatabaseProxy(url);
    const pool = createPool(parseDatabaseUrl(proxy.url), { connectTimeout: 1_000 });
    const [rebuild, lifetime] = [random.happens(0.5), random.integer(0, 200)];
    const run = rollUp(pool, { margin, rebuild }).catch(() => killed());
    await sleep(lifetime);
    await proxy.close();
    await pool.destroy();
    await run;
    await pause();
  }
}
