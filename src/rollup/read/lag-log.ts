/** Logs rollups that an operator should look at: one that is missing or behind, so that queries read many rows. */
import { fromDatetime } from "../../db/datetime.ts";
import type { Log } from "../../telemetry/log.ts";
import type { RecordLag } from "../../telemetry/metrics/rollups.ts";
import { createSampledLog } from "../../telemetry/sampled-log.ts";
import type { Facts } from "./facts.ts";

/** What a call read. */
export interface Use {
  readonly facts: Facts;
  /** The number of charges that were read because the rollup did not cover them. */
  readonly uncoveredCharges: number;
}

/** Reports what a call of a provider read. */
export type ReportLag = (provider: string, use: Use) => void;

/** The age of a watermark, in ms, from which a rollup can be behind: twice the default margin. */
const MAX_LAG = 1_800_000;
/**
 * The uncovered charges from which a rollup is behind. A watermark stays where it is while nothing is
 * recorded, so its age alone means nothing.
 */
const MIN_CHARGES = 1_000;
/** In so many ms, so many entries of one kind have a line of their own. */
const [WINDOW, MAX_ENTRIES] = [600_000, 10];

/**
 * Creates a `ReportLag`, sampled. A missing rollup is logged only once the process has seen any: an
 * installation without rollups lacks none.
 */
export function createLagLog(log: Log, recordLag: RecordLag = () => {}): ReportLag {
  let rollupsInUse = false;
  const sampled = createSampledLog(log, { limit: MAX_ENTRIES, window: WINDOW });

  return (providerId, { facts: { rollup, now }, uncoveredCharges }) => {
    rollupsInUse ||= rollup !== undefined;
    const lag =
      rollup === undefined || uncoveredCharges === 0
        ? 0
        : Math.max(0, now - fromDatetime(rollup.watermark));
    const isBehind = lag >= MAX_LAG && uncoveredCharges >= MIN_CHARGES;
    recordLag(providerId, lag, isBehind);
    if (!rollupsInUse || uncoveredCharges < MIN_CHARGES) return;
    if (rollup === undefined) {
      sampled.warn({ providerId, uncoveredCharges }, "provider has no rollup");
    } else if (isBehind) {
      const { watermark } = rollup;
      const behindSeconds = Math.round(lag / 1_000);
      const fields = { providerId, watermark, behindSeconds, uncoveredCharges };
      sampled.warn(fields, "rollup is behind");
    }
  };
}
