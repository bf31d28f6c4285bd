/** Tells operators which rollups they should look at: those that are missing or behind, so that queries read many rows. */
import { LRUCache } from "lru-cache";
import { fromDatetime } from "../../db/datetime.ts";
import type { Log } from "../../telemetry/log.ts";
import type { RecordLag } from "../../telemetry/metrics/rollups.ts";
import { MIN_ROWS } from "../size.ts";
import type { Facts } from "./facts.ts";

/** What a call reads. */
export interface Use {
  readonly facts: Facts;
  /** The number of charges that were read because the rollup did not cover them; undefined if the read failed. */
  readonly uncoveredCharges?: number | undefined;
  /** Whether there is no rollup and should be one. Default: no. */
  readonly isMissing?: boolean | undefined;
}

/** Reports what a call of a provider reads. A read that failed tells nothing about a rollup that is there. */
export type ReportLag = (provider: string, use: Use) => void;

/** The age of a watermark, in ms, from which a rollup can be behind: twice the default margin. */
export const MAX_LAG = 1_800_000;
/** A provider has one line of a kind in this time, in ms. */
const WINDOW = 3_600_000;
/** The lines that are remembered; the oldest ones are forgotten first. */
const MAX_LINES = 20_000;

/** Creates a `ReportLag`. */
export function createLagLog(log: Log, recordLag: RecordLag = () => {}): ReportLag {
  const toldAt = new LRUCache<string, number>({ max: MAX_LINES });
  const warn = (providerId: string, message: string, fields: object) => {
    const line = `${providerId} ${message}`;
    const at = performance.now();
    if (at - (toldAt.get(line) ?? -Infinity) < WINDOW) return;
    toldAt.set(line, at);
    log.warn({ providerId, ...fields }, message);
  };

  return (providerId, { facts: { rollup, now }, uncoveredCharges, isMissing = false }) => {
    if (rollup === undefined) {
      recordLag(providerId, 0, isMissing ? "missing" : "current");
      if (isMissing) warn(providerId, "provider has no rollup", { uncoveredCharges });
      return;
    }
    if (uncoveredCharges === undefined) return;
    const { watermark } = rollup;
    const lag = uncoveredCharges === 0 ? 0 : Math.max(0, now - fromDatetime(watermark));
    // A watermark stays where it is while nothing is recorded, so its age alone means nothing.
    const isBehind = uncoveredCharges >= MIN_ROWS && lag >= MAX_LAG;
    recordLag(providerId, lag, isBehind ? "behind" : "current");
    if (!isBehind) return;
    const behindSeconds = Math.round(lag / 1_000);
    warn(providerId, "rollup is behind", { watermark, behindSeconds, uncoveredCharges });
  };
}
