/** What `npm run rollup` prints about its runs. */
import { SingleBar } from "cli-progress";
import type { Knex } from "knex";
import { fromDatetime } from "../db/datetime.ts";
import type { RollupProgress } from "../rollup/write/run/work.ts";
import { type RollupOptions, type RollupResult, rollUp } from "../rollup/write/run.ts";
import { errorFields } from "../telemetry/error-fields.ts";
import type { Log } from "../telemetry/log.ts";
import { createSampledLog } from "../telemetry/sampled-log.ts";
import { formatError } from "./format-error.ts";

/** Whether a run did anything that an operator may want to read about. */
export function isWorthALine({ news, repairs, unfinished }: RollupResult): boolean {
  return news > 0 || repairs > 0 || unfinished;
}

/** Logs what a run did. */
export function logRun(log: Log, result: RollupResult): void {
  const { charges, providers, small, behind, repairs, duration } = result;
  const ms = Math.round(duration);
  log.info({ charges, providers, small, behind, repairs, ms }, "run ended");
}

/**
 * Says whether the account sees who may still write.
 *
 * @param before whether it did before; undefined at first
 */
export function announce(log: Log, sees: boolean, margin: number, before?: boolean): void {
  const message = sees ? VISIBLE : NOT_VISIBLE;
  log[before && !sees ? "warn" : "info"]({ marginSeconds: margin }, message);
}

const VISIBLE = "open transactions are visible: the watermark stays before the oldest of them";
const NOT_VISIBLE =
  "open transactions are not visible without the privilege PROCESS (TiDB lists none): a writer's must end within the margin";

/** In so many ms, a reason for which runs fail has one line, and one with the count of the others. */
const FAILURE_WINDOW = 60_000;

/** Creates the log of what runs come to, one after another: failures, their end, and a watermark that waits. */
export function createOutcomeLog(log: Log) {
  const failureLog = createSampledLog(log, { by: "reason", limit: 1, window: FAILURE_WINDOW });
  let [failures, waitedFor] = [0, 0];
  return {
    failed(error: unknown): void {
      failures++;
      const reason = formatError(error);
      failureLog.warn({ reason, cause: errorFields(error) }, "run failed, will retry");
    },
    succeeded({ waitsFor }: RollupResult): void {
      if (failures > 0) log.info({ failures }, "runs succeed again");
      failures = 0;
      if (waitsFor === undefined) return;
      const began = fromDatetime(waitsFor.began);
      // The start of a statement is known to a second only: the same one may look a second older.
      if (Math.abs(began - waitedFor) <= 1_000) return;
      waitedFor = began;
      log.warn(waitsFor, "the watermark waits");
    },
  };
}

/** Creates the progress bar of a run. It appears with the first step, if stderr is a terminal. */
function createProgressBar() {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} providers, {charges} charges{building}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  return {
    show({ done, providers, charges, rowsLeft }: RollupProgress) {
      const building = rowsLeft > 0 ? `, building, ${rowsLeft} rows left` : "";
      if (!bar.isActive) bar.start(providers, 0, { charges: 0, building: "" });
      bar.update(done, { charges, building });
    },
    stop: () => bar.stop(),
  };
}

/** Runs once, with a progress bar. Repairs are logged at once. */
export async function runOnce(
  database: Knex,
  log: Log,
  options: RollupOptions,
): Promise<RollupResult> {
  const bar = createProgressBar();
  try {
    const report = (progress: RollupProgress) => {
      const { repair } = progress;
      if (repair !== undefined) {
        const { provider: providerId, what: difference, gross } = repair;
        log.error({ providerId, difference, gross }, "a rollup was repaired");
      }
      bar.show(progress);
      options.report?.(progress);
    };
    return await rollUp(database, { ...options, report });
  } finally {
    bar.stop();
  }
}
