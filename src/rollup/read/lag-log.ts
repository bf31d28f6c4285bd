/**
 * Logs rollups that an operator should look at: one that is missing or behind, so that queries read
 * many rows of the ledger, and one whose watermark cannot be true.
 */
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { fromDatetime } from "../../db/datetime.ts";
import { NO_VERSION, type UsedRollup } from "../coverage.ts";

/** What a call read. */
export interface Use {
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges that were read because the rollup did not cover them. */
  readonly uncoveredCharges: number;
  /** The instant of the call by the database's clock, in epoch ms. */
  readonly now: number;
}

/** Reports what a call of a provider read. */
export type ReportLag = (provider: string, use: Use) => void;

/**
 * Records how far a watermark lags behind, in ms: not at all if the call read no uncovered charge.
 * `isBehind`: whether this is worth a warning.
 */
type RecordLag = (provider: string, lag: number, isBehind: boolean) => void;

/** The age of a watermark, in ms, from which a rollup can be behind: twice the default margin. */
const MAX_LAG = 1_800_000;
/**
 * The uncovered charges from which a rollup is behind. A watermark stays where it is while nothing is
 * recorded, so its age alone means nothing.
 */
const MIN_CHARGES = 1_000;
/** The minimum time between two warnings about one provider, in ms. */
const PROVIDER_INTERVAL = 600_000;
/** The most warnings in a minute, about all providers together. */
const MAX_PER_MINUTE = 10;
const MINUTE = 60_000;
/** The providers whose last warning is remembered: as many as an interval can have. */
const MAX_PROVIDERS = (PROVIDER_INTERVAL / MINUTE + 1) * MAX_PER_MINUTE;

/**
 * Creates a `ReportLag` with a limit on warnings, per provider and in all. A missing rollup is
 * logged only once the process has seen any: an installation without rollups lacks none.
 */
export function createLagLog(log: Logger, recordLag: RecordLag = () => {}): ReportLag {
  const lastLogged = new LRUCache<string, number>({ max: MAX_PROVIDERS });
  let rollupsInUse = false;
  let minuteStart = Number.NEGATIVE_INFINITY;
  let inMinute = 0;

  function isDue(providerId: string, now: number): boolean {
    if (now - (lastLogged.peek(providerId) ?? -Infinity) < PROVIDER_INTERVAL) return false;
    if (now - minuteStart >= MINUTE) {
      minuteStart = now;
      inMinute = 0;
    }
    if (inMinute === MAX_PER_MINUTE) return false;
    inMinute++;
    lastLogged.set(providerId, now);
    return true;
  }

  return (providerId, { rollup, uncoveredCharges, now }) => {
    if (rollup.ahead) {
      if (!isDue(providerId, now)) return;
      const fields = { providerId, watermark: rollup.ahead, uncoveredCharges };
      log.error(fields, "rollup is ahead of the database's clock and not used");
      return;
    }
    const missing = rollup.version === NO_VERSION;
    rollupsInUse ||= !missing;
    const lag =
      missing || uncoveredCharges === 0 ? 0 : Math.max(0, now - fromDatetime(rollup.watermark));
    const isBehind = lag >= MAX_LAG && uncoveredCharges >= MIN_CHARGES;
    recordLag(providerId, lag, isBehind);
    if (!rollupsInUse || uncoveredCharges < MIN_CHARGES) return;
    if (missing) {
      if (isDue(providerId, now))
        log.warn({ providerId, uncoveredCharges }, "provider has no rollup");
      return;
    }
    const { watermark } = rollup;
    if (!isBehind || !isDue(providerId, now)) return;
    const behindSeconds = Math.round(lag / 1_000);
    log.warn({ providerId, watermark, behindSeconds, uncoveredCharges }, "rollup is behind");
  };
}
