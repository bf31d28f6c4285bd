/**
 * Watches how far this host's clock is off the database's. Figures do not depend on this host's clock;
 * log lines, certificates and the age of API keys do.
 */
import type { Logger } from "pino";
import { fromDatetime } from "./datetime.ts";
import type { Read } from "./query.ts";
import { isSnapshot } from "./statement.ts";

/** Records an offset in ms: positive if the database's clock is ahead. */
export type RecordOffset = (offset: number) => void;

/**
 * Returns a `Read` for compiled statements that does what `read` does, and records the least offset of
 * the clocks with which the instant of the snapshot lies between the call and its answer.
 */
export function watchClock(read: Read, record: RecordOffset): Read {
  return async (...parameters) => {
    const sent = Date.now();
    const rows = await read(...parameters);
    const received = Date.now();
    const instant = fromDatetime(rows.find(isSnapshot)?.[1] ?? "");
    if (Number.isFinite(instant)) {
      record(Math.min(instant - sent, 0) || Math.max(instant - received, 0));
    }
    return rows;
  };
}

/** The offset from which an operator should look at it, in ms. */
const MAX_OFFSET = 1_000;
/** The minimum time between two warnings, in ms. */
const INTERVAL = 600_000;

/** Creates a `RecordOffset` that logs large offsets, and passes each one on. */
export function createClockLog(log: Logger, record: RecordOffset = () => {}): RecordOffset {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (offset) => {
    record(offset);
    if (Math.abs(offset) < MAX_OFFSET || performance.now() - loggedAt < INTERVAL) return;
    loggedAt = performance.now();
    log.warn({ offsetMs: offset }, "this host's clock is off the database's");
  };
}
