/** The metrics of `npm run rollup`. */
import { addProcessMetrics } from "./process.ts";
import { addCounter, addDurations, addGauge, createRegistry } from "./registry.ts";

/** What a run did. Times are in ms. */
export interface RollupRun {
  /** The number of providers. */
  readonly providers: number;
  /** The number of charges added. */
  readonly charges: number;
  /** The number of providers with news that are not up to date: they failed, or wait for a build. */
  readonly behind: number;
  /** How far the oldest watermark that should have moved lies behind the database's clock; at least the margin. */
  readonly lag: number;
  /** How long ago the slice was compared that was compared least recently, at most. */
  readonly checkAge: number;
  /** How long the run took. */
  readonly duration: number;
}

/**
 * Creates the metrics of runs, all at zero.
 *
 * @param isReady whether `/readyz` succeeds
 */
export function createRunMetrics(isReady: () => boolean) {
  const registry = createRegistry();
  let last: RollupRun | undefined;
  let succeededAt: number | undefined;
  let rowsLeft = 0;
  const runs = addCounter(registry, {
    name: "revenue_rollup_runs_total",
    help: "Runs by their result: ok or failed.",
    labels: ["result"],
  });
  for (const result of ["ok", "failed"]) runs.inc({ result }, 0);
  const durations = addDurations(registry, {
    name: "revenue_rollup_run_duration_seconds",
    help: "Time of a run that succeeded.",
  });
  const charges = addCounter(registry, {
    name: "revenue_rollup_charges_total",
    help: "Charges that were added to rollups.",
  });
  const repairs = addCounter(registry, {
    name: "revenue_rollup_repairs_total",
    help: "Differences from the ledger that were found and removed.",
  });
  const gauge = (name: string, help: string, read: () => number | undefined) =>
    addGauge(registry, { name, help }, read);
  gauge("revenue_rollup_providers", "Providers of the last run.", () => last?.providers);
  gauge(
    "revenue_rollup_run_providers_behind",
    "Providers with new rows that the last run did not bring up to date.",
    () => last?.behind,
  );
  gauge(
    "revenue_rollup_run_lag_seconds",
    "How far the oldest watermark that should have moved lies behind; at least the margin.",
    () => last && last.lag / 1_000,
  );
  gauge(
    "revenue_rollup_check_age_seconds",
    "How long ago the part of the rollups that was compared least recently was compared with the ledger.",
    () => last && last.checkAge / 1_000,
  );
  gauge(
    "revenue_rollup_build_rows_left",
    "Charges, starts and ends of rentals that are left of the build in progress; 0 without one.",
    () => rowsLeft,
  );
  // A run that succeeds has written the heartbeat.
  gauge(
    "revenue_rollup_last_success_timestamp_seconds",
    "When the last run that succeeded ended, in seconds of the Unix epoch.",
    () => succeededAt && succeededAt / 1_000,
  );
  gauge("revenue_ready", "1 if /readyz succeeds, otherwise 0.", () => (isReady() ? 1 : 0));
  addProcessMetrics(registry);

  return {
    /** Records how many rows are left of a build. */
    building(left: number) {
      rowsLeft = left;
    },
    /** Records what a run did that came to its end, also if some providers failed. */
    finished(run: RollupRun) {
      last = run;
      charges.inc(run.charges);
    },
    /** Records a run that succeeded. */
    succeeded({ duration }: RollupRun) {
      succeededAt = Date.now();
      runs.inc({ result: "ok" });
      durations.observe(duration / 1_000);
    },
    /** Records a difference that was removed, at once: the run may fail for another provider. */
    repaired: () => repairs.inc(),
    /** Records a run that failed. */
    failed: () => runs.inc({ result: "failed" }),
    render: () => registry.metrics(),
  };
}
