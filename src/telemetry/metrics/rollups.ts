/** Metrics of rollups as the service sees them: through the answers that used one. */
import { LRUCache } from "lru-cache";
import { addCounter, addGauge, type MetricsRegistry } from "./registry.ts";

/** How long the lag of an answer counts, in ms. */
const WINDOW = 300_000;
/** The providers whose last lag is kept; least recently seen ones are dropped first. */
const MAX_PROVIDERS = 10_000;

/** How an answer found a provider's rollup; `current` also where it would make no difference. */
export type RollupState = "current" | "behind" | "missing";

/**
 * Records the lag of the watermark, in ms, that an answer to a provider found: 0 if the answer read no
 * uncovered charge, or there is no rollup.
 */
export type RecordLag = (providerId: string, lag: number, state: RollupState) => void;

/**
 * Adds the lag of watermarks to a registry, and answers that found a damaged rollup. A watermark stays where
 * it is while nothing is recorded, so an answer without uncovered charges has no lag.
 */
export function addRollupMetrics(registry: MetricsRegistry) {
  const lags = new LRUCache<string, { readonly lag: number; readonly state: RollupState }>({
    max: MAX_PROVIDERS,
    ttl: WINDOW,
  });
  const current = () => [...lags.values()];
  addGauge(
    registry,
    {
      name: "revenue_rollup_watermark_lag_seconds",
      help: "The largest lag of a rollup that answers of the last 5 minutes used.",
    },
    () => current().reduce((largest, { lag }) => Math.max(largest, lag), 0) / 1_000,
  );
  const providers = (name: string, help: string, counted: RollupState) =>
    addGauge(
      registry,
      { name, help },
      () => current().filter(({ state }) => state === counted).length,
    );
  providers(
    "revenue_rollup_providers_behind",
    "Providers with answers in the last 5 minutes whose rollup is behind, as the log warns.",
    "behind",
  );
  providers(
    "revenue_rollup_providers_missing",
    "Providers with calls in the last 5 minutes that miss a rollup, as the log warns.",
    "missing",
  );
  const damaged = addCounter(registry, {
    name: "revenue_rollup_damaged_answers_total",
    help: "Answers that were read from the ledger, or refused, because a rollup contradicts itself.",
  });
  const recordLag: RecordLag = (providerId, lag, state) =>
    void lags.set(providerId, { lag, state });
  return {
    recordLag,
    /** Counts an answer whose rollup is damaged. */
    damagedAnswer: () => damaged.inc(),
  };
}
