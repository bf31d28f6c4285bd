/** What `npm run rollup` prints about its runs. */
import { SingleBar } from "cli-progress";
import type { Knex } from "knex";
import { redactKeys } from "../auth/api-key.ts";
import { formatRepair, type Repair } from "../rollup/write/repair.ts";
import type { Wait } from "../rollup/write/run/clock.ts";
import {
  type RollupOptions,
  type RollupProgress,
  type RollupResult,
  rollUp,
} from "../rollup/write/run.ts";

/** Whether a run did anything that an operator may want to read about. */
export function isWorthALine({ news, repairs, unfinished }: RollupResult): boolean {
  return news > 0 || repairs > 0 || unfinished;
}

/** A run in one line. */
export function lineOf(result: RollupResult, signal?: AbortSignal): string {
  const { charges, providers, repairs, duration } = result;
  const seconds = (duration / 1_000).toFixed(1);
  const repaired = repairs === 0 ? "" : `, ${repairs} ${plural("difference", repairs)} repaired`;
  return signal?.aborted
    ? `stopped after ${seconds} s, ${charges} charges added${repaired}`
    : `${charges} charges added, ${providers} providers up to date, ${seconds} s${repaired}`;
}

/** Says whether long transactions are safe. */
export function announcement(seesTransactions: boolean, margin: number): string {
  return seesTransactions
    ? "open transactions are visible: the watermark waits for those that are older than the margin"
    : `open transactions are not visible without the privilege PROCESS (TiDB lists none): a writer's must end within the margin of ${margin} s`;
}

/** What the watermark waits for, in words. */
export function nameOf({ began }: Wait): string {
  return began === undefined
    ? "an XA transaction that was prepared before the database was started (XA RECOVER lists it)"
    : `a transaction or statement that began at ${began} UTC`;
}

/** A noun for a count. */
export function plural(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** A progress bar. It shows nothing if stderr is not a terminal. */
interface ProgressBar {
  readonly show: (progress: RollupProgress) => void;
  readonly stop: () => void;
}

/** Creates the progress bar of a run. It appears with the first step. */
function createProgressBar(): ProgressBar {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} providers, {charges} charges{building}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  return {
    show({ done, providers, charges, building }) {
      const position = building
        ? `, building ${building.at.slice(0, 10)}, ${building.rowsLeft} rows left`
        : "";
      if (!bar.isActive) bar.start(providers, 0, { charges: 0, building: "" });
      bar.update(done, { charges, building: position });
    },
    stop: () => bar.stop(),
  };
}

/** Runs once, with a progress bar. Repairs are printed at once. */
export async function runOnce(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const bar = createProgressBar();
  const repaired = (repair: Repair) => {
    warn(`error: ${formatRepair(repair)}`);
    options.repaired?.(repair);
  };
  try {
    const report = (progress: RollupProgress) => {
      bar.show(progress);
      options.report?.(progress);
    };
    return await rollUp(database, { ...options, report, repaired });
  } finally {
    bar.stop();
  }
}

/** Prints a warning, above the progress bar. */
export function warn(message: string): void {
  console.error(redactKeys(message));
}

const warned = new Set<string>();

/** Prints a warning the first time. */
export function warnOnce(message: string): void {
  if (!warned.has(message)) warn(message);
  warned.add(message);
}
