/**
 * Telling the log how far behind the rollups are, as far as rows see it. A rollup that
 * stands still never makes an answer wrong, only slower with every charge, and whoever runs
 * the service should hear of it from the log and not from the providers.
 */
import type { Logger } from "pino";
import { fromDatetime } from "../../db/datetime.ts";
import type { RollupState } from "./cache.ts";

/** Is told which rollup an answer saw, at which instant (epoch ms). */
export type ReportLag = (provider: string, state: RollupState, now: number) => void;

/** From how old a watermark on a rollup counts as behind, in ms: some runs were missed by then. */
const BEHIND = 600_000;
/** How often the log is told, at most, in ms. */
const INTERVAL = 60_000;

/** Notes into a log: a line a minute at most, of the provider that was seen at that moment. */
export function createLagLog(log: Logger): ReportLag {
  let told = Number.NEGATIVE_INFINITY;
  return (providerId, { generation, watermark }, now) => {
    const missing = generation === "0";
    const behind = now - fromDatetime(watermark);
    if ((!missing && behind < BEHIND) || now - told < INTERVAL) return;
    told = now;
    if (missing) {
      log.warn({ providerId }, "no rollup: every charge is read");
    } else {
      const behindSeconds = Math.round(behind / 1_000);
      log.warn({ providerId, watermark, behindSeconds }, "rollup is behind: more rows are read");
    }
  };
}
