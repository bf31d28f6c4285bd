/** Continuous rollup runs, in this process and in processes that are killed. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Knex } from "knex";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { startRollup } from "../../../support/commands/rollup-process.ts";
import { until } from "../../../support/poll.ts";

/** Runs rollups until the signal aborts, every fourth as a rebuild. */
export async function runRollups(
  database: Knex,
  margin: number,
  signal: AbortSignal,
): Promise<void> {
  for (let runs = 0; !signal.aborted; runs++) {
    await rollUp(database, { margin, rebuild: runs % 4 === 2, signal });
    await sleep(20);
  }
}

/**
 * Starts `rollup --watch`, kills it a random time after it has begun, and repeats until the signal aborts.
 */
export async function killRollups(
  url: string,
  margin: number,
  signal: AbortSignal,
  killed: () => void,
): Promise<void> {
  while (!signal.aborted) {
    const child = startRollup(url, "--margin", `${margin / 1000}`, "--watch", "0.3");
    // Its first line says that it is connected.
    await until(60_000, () => signal.aborted || child.lines().length > 0);
    const lifetime = fc.sample(fc.integer({ min: 0, max: 700 }), 1)[0];
    await Promise.race([child.ended, sleep(lifetime, undefined, { signal }).catch(() => {})]);
    child.signal("SIGKILL");
    const ending = await child.ended;
    if (ending.signal !== "SIGKILL") throw new Error(`the rollup exited: ${ending.stderr}`);
    killed();
  }
}
