/** The rollup at work, in this process and in others that are killed again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Knex } from "knex";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { startRollup } from "../../../support/commands/rollup-process.ts";

/** Rolls up without a pause, and builds anew now and then; resolves to how many runs it was. */
export async function rollOn(database: Knex, margin: number, stop: AbortSignal): Promise<number> {
  let runs = 0;
  while (!stop.aborted) {
    await rollUp(database, { margin, rebuild: runs % 4 === 2, signal: stop });
    runs++;
    await sleep(20);
  }
  return runs;
}

/**
 * Starts `rollup --watch`, kills it at a random moment, and starts it again. Resolves to
 * how often it died.
 */
export async function rollAndDie(url: string, margin: number, stop: AbortSignal): Promise<number> {
  let deaths = 0;
  while (!stop.aborted) {
    const child = startRollup(url, "--margin", `${margin / 1000}`, "--watch", "0.1");
    const life = fc.sample(fc.integer({ min: 300, max: 4_000 }), 1)[0];
    await Promise.race([child.ended, sleep(life, undefined, { signal: stop }).catch(() => {})]);
    child.signal("SIGKILL");
    const { signal, stderr } = await child.ended;
    deaths++;
    if (signal !== "SIGKILL") throw new Error(`the rollup ended by itself: ${stderr}`);
  }
  return deaths;
}
