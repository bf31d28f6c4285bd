/** A writer that records charges while answers are measured. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { addChargesToSome } from "../ledger.ts";

/** Records a charge for each of some providers, drawn at random, every second until it is disposed. */
export function startWriter(database: Knex, providers: number): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const write = async () => {
    while (!signal.aborted) {
      await addChargesToSome(database, providers);
      await sleep(1_000, undefined, { signal }).catch(() => {});
    }
  };
  const writing = write();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await writing;
    },
  };
}
