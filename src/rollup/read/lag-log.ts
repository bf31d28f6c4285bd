/**
 * Logs a warning if a rollup is missing or its watermark is old. Queries read every row that a
 * rollup does not cover, so they slow down as it falls behind.
 */
import type { Logger } from "pino";
import { fromDatetime } from "../../db/datetime.ts";
import { NO_GENERATION, type RollupState } from "../coverage.ts";

/** Reports the state of the rollup that a call used, if any. `now` is in epoch ms. */
export type ReportLag = (provider: string, state: RollupState | undefined, now: number) => void;

/** The age of a watermark, in ms, from which the rollup is reported as behind. */
const MAX_LAG = 600_000;
/** The minimum time between two warnings, in ms. */
const INTERVAL = 60_000;

/** Creates a `ReportLag` that logs at most one warning a minute, about one provider. */
export function createLagLog(log: Logger): ReportLag {
  let lastLogged = Number.NEGATIVE_INFINITY;
  return (providerId, state, now) => {
    const missing = state === undefined || state.generation === NO_GENERATION;
    const lag = missing ? Infinity : now - fromDatetime(state.watermark);
    if (lag < MAX_LAG || now - lastLogged < INTERVAL) return;
    lastLogged = now;
    if (missing) {
      log.warn({ providerId }, "provider has no rollup");
    } else {
      const behindSeconds = Math.round(lag / 1_000);
      log.warn({ providerId, watermark: state.watermark, behindSeconds }, "rollup is behind");
    }
  };
}
