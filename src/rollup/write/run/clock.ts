/**
 * The clock of a run: the database's own, which also sets `recorded_at`, and the watermark that a run may move to. It
 * stays behind whatever may still write, and by the margin.
 */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { findOldestWriter, type Writer } from "./writers.ts";

/** The instants of a run, as DATETIME(3) text in UTC. */
export interface Clock {
  /** When the run began. */
  readonly now: string;
  /** The watermark to move to: nothing that was recorded up to it can commit any more. */
  readonly until: string;
  /** What `until` waits for: who may still write, and began longer ago than the margin. */
  readonly waitsFor: Writer | undefined;
}

/**
 * Reads the clock, and then who may still write.
 *
 * @param margin in ms: how far the watermark stays before the start of the oldest of them, or before now. At least a
 *   second, unless nobody writes: starts are known to a second
 * @param seesTransactions whether the account sees transactions and statements of others
 */
export async function readClock(
  database: Knex,
  margin: number,
  seesTransactions: boolean,
): Promise<Clock> {
  const [[{ instant }]] = await database.raw("SELECT UTC_TIMESTAMP(3) AS instant");
  const now = fromDatetime(instant);
  const oldest = seesTransactions ? await findOldestWriter(database) : undefined;
  const began = oldest ? fromDatetime(oldest.began) : now;
  return {
    now: instant,
    until: toDatetime(Math.min(began, now) - margin),
    waitsFor: began < now - margin ? oldest : undefined,
  };
}
