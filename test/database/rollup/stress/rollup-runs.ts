/** Continuous rollup runs, in this process and in processes that are killed. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Knex } from "knex";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { startRollup } from "../../../support/commands/rollup-process.ts";

/** Runs rollups until the signal aborts, every fourth as a rebuild. Resolves to the number of runs. */
export async function runRollups(
  database: Knex,
  margin: number,
  signal: AbortSignal,
): Promise<number> {
  let runs = 0;
  while (!signal.aborted) {
    await rollUp(database, { margin, rebuild: runs % 4 === 2, signal });
    runs++;
    await sleep(20);
  }
  return runs;
}

/**
 * Starts `rollup --watch`, kills it after a random time, and repeats until the signal aborts.
 * Resolves to the number of killed processes.
 */
export async function killRollups(
  url: string,
  margin: number,
  signal: AbortSignal,
): Promise<number> {
  let killed = 0;
  while (!signal.aborted) {
    const child = startRollup(url, "--margin", `${margin / 1000}`, "--watch", "0.3");
    const lifetime = fc.sample(fc.integer({ min: 300, max: 3_000 }), 1)[0];
    await Promise.race([child.ended, sleep(lifetime, undefined, { signal }).catch(() => {})]);
    child.signal("SIGKILL");
    const ending = await child.ended;
    killed++;
    if (ending.signal !== "SIGKILL") throw new Error(`the rollup exited: ${ending.stderr}`);
  }
  return killed;
}
