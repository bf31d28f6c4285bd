/**
 * How long a statement is likely to take, so that a read that cannot be answered in the time left
 * is refused before it costs the database anything.
 *
 * The estimate errs on the short side. It is the shorter of an owner's last two runs, because the
 * same statement may ask for a day or for ten years. It halves every two seconds, so that a lock
 * that has been released is soon forgotten, and never exceeds five seconds, so that a call with
 * its full ten seconds is always tried.
 */
import { LRUCache } from "lru-cache";

/** Shorter runs are not worth a refusal, in ms. */
const MIN_DURATION = 100;
/** The longest estimate, in ms. */
export const MAX_ESTIMATE = 5_000;
/** An estimate halves in this time, in ms. */
const HALF_LIFE = 2_000;
/** An estimate is forgotten after this time, in ms. */
const TIME_TO_LIVE = 10_000;

/** The recent runs of one statement for one owner: their durations in ms. */
interface Runs {
  readonly last: number;
  readonly previous: number;
  /** When the last one ended, in ms of `performance.now()`. */
  readonly at: number;
}

/** The estimates of one process. */
export interface DurationEstimates {
  /** The estimate in ms; 0 if nothing slow is known. */
  estimate(owner: string, sql: string): number;
  /** Takes the duration of a run into account, in ms. */
  record(owner: string, sql: string, duration: number): void;
}

/** Creates estimates without any runs. */
export function createDurationEstimates(): DurationEstimates {
  // By statement and then by owner: the hash of a statement's text is computed once.
  const byStatement = new LRUCache<string, LRUCache<string, Runs>>({ max: 50 });
  return {
    estimate(owner, sql) {
      const runs = byStatement.get(sql)?.get(owner);
      if (runs === undefined) return 0;
      const decay = 0.5 ** ((performance.now() - runs.at) / HALF_LIFE);
      return Math.min(MAX_ESTIMATE, runs.last * decay, runs.previous * decay);
    },
    record(owner, sql, duration) {
      let byOwner = byStatement.get(sql);
      const runs = byOwner?.get(owner);
      if (runs === undefined && duration < MIN_DURATION) return;
      if (byOwner === undefined) {
        byOwner = new LRUCache({ max: 1_000, ttl: TIME_TO_LIVE });
        byStatement.set(sql, byOwner);
      }
      byOwner.set(owner, { last: duration, previous: runs?.last ?? 0, at: performance.now() });
    },
  };
}
