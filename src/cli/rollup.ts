/** `npm run rollup`: brings the rollups up to date, in the database in `DATABASE_URL`. */
import { setTimeout as sleep } from "node:timers/promises";
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Knex } from "knex";
import { redactKeys } from "../auth/api-key.ts";
import type { DatabaseUrl } from "../config.ts";
import { END } from "../rollup/timeline.ts";
import { scheduleCheck } from "../rollup/write/check.ts";
import { type Difference, formatRepair } from "../rollup/write/difference.ts";
import { canSeeTransactions } from "../rollup/write/pass/clock.ts";
import { createRollupPool } from "../rollup/write/pass/pool.ts";
import { needsNewConnections } from "../rollup/write/retry.ts";
import {
  CHECK_PERIOD,
  CONCURRENCY,
  MARGIN,
  type RollupOptions,
  type RollupProgress,
  type RollupResult,
  rollUp,
} from "../rollup/write/run.ts";
import { countRollups, verify } from "../rollup/write/verify.ts";
import { formatError } from "./format-error.ts";
import { runOnDatabase } from "./run.ts";

interface Flags {
  readonly margin: number;
  readonly checkPeriod: number;
  readonly concurrency: number;
  readonly watch?: number;
  readonly rebuild?: boolean;
  readonly verify?: boolean;
  readonly repair?: boolean;
}

/** How often a run that lost its connections is tried again, and after how long, in ms. */
const [RETRIES, RETRY_DELAY] = [3, 1_000];

const program = new Command("rollup")
  .description("Brings the rollups up to date.")
  .option(
    "--margin <seconds>",
    "how long a writer's transaction may be open",
    toSeconds,
    MARGIN / 1_000,
  )
  .option("--watch <seconds>", "repeat until SIGTERM, with this pause between runs", toPause)
  .option(
    "--check-period <seconds>",
    "compare every rollup with the whole ledger in this time",
    toSeconds,
    CHECK_PERIOD / 1_000,
  )
  .option("--concurrency <number>", "work on this many providers at once", toCount, CONCURRENCY)
  .option("--rebuild", "build every rollup again; queries use the old one meanwhile")
  .addOption(
    new Option(
      "--verify",
      "compare with the ledger and print every difference; exit code 1 if there is one",
    ).conflicts(["rebuild", "watch"]),
  )
  .option("--repair", "with --verify: remove the differences")
  .action((flags: Flags) => runOnDatabase((_, url) => run(url, flags)));
await program.parseAsync();

async function run(url: DatabaseUrl, flags: Flags): Promise<void> {
  if (flags.repair && !flags.verify) throw new Error("--repair needs --verify");
  const connect = () => createRollupPool(url, flags.concurrency + 2, warnOnce);
  if (flags.verify) return verifyAll(connect(), flags);
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  process.once("SIGINT", () => stop.abort());
  await runPasses(connect, flags, stop.signal);
}

/**
 * Runs once, or until the signal aborts. After a failure the connections are closed: they may lead
 * to a server that no longer is the primary.
 */
async function runPasses(
  connect: () => Knex,
  { watch, margin, checkPeriod, concurrency, rebuild = false }: Flags,
  signal: AbortSignal,
): Promise<void> {
  let [first, failures, waitsFor] = [true, 0, ""];
  let database = connect();
  try {
    let seesTransactions: boolean | undefined;
    for (;;) {
      let pause = (watch ?? 0) * 1_000;
      const started = performance.now();
      try {
        if (seesTransactions === undefined) {
          seesTransactions = await canSeeTransactions(database);
          if (watch !== undefined || !seesTransactions) {
            console.log(announcement(seesTransactions, margin));
          }
        }
        const result = await runOnce(database, {
          ...{ margin: margin * 1_000, checkPeriod: checkPeriod * 1_000, seesTransactions },
          ...{ concurrency, rebuild: rebuild && first, signal },
          ...(watch !== undefined && { maxTime: pause }),
        });
        if (watch === undefined || isWorthALine(result))
          console.log(lineOf(result, started, signal));
        [first, failures] = [false, 0];
        if (result.waitsFor && result.waitsFor !== waitsFor) {
          waitsFor = result.waitsFor;
          warn(`the watermark waits for a transaction that has been open since ${waitsFor} UTC`);
        }
        if (result.unfinished) pause = 0;
      } catch (error) {
        const connected = seesTransactions !== undefined;
        const retry = connected && needsNewConnections(error) && failures < RETRIES;
        if (watch === undefined && !retry) throw error;
        failures++;
        // An unavailable database may come back. Meanwhile answers read more rows.
        warn(`run failed, will retry: ${formatError(error)}`);
        await database.destroy();
        database = connect();
        pause = Math.min(watch === undefined ? RETRY_DELAY : pause, RETRY_DELAY);
      }
      if (signal.aborted || (watch === undefined && failures === 0)) return;
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  } finally {
    await database.destroy();
  }
}

/** Runs once, with a progress bar. Repairs are printed at once. */
async function runOnce(database: Knex, options: RollupOptions): Promise<RollupResult> {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} providers, {charges} charges{building}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  const report = (progress: RollupProgress) => show(bar, progress);
  const repaired = (difference: Difference) => warn(`error: ${formatRepair(difference)}`);
  try {
    return await rollUp(database, { ...options, report, repaired });
  } finally {
    bar.stop();
  }
}

/** Whether a run did anything that an operator may want to read about. */
function isWorthALine({ news, repairs, unfinished }: RollupResult): boolean {
  return news > 0 || repairs > 0 || unfinished;
}

/** A run in one line. `started` is when it began, in ms of `performance.now()`. */
function lineOf(result: RollupResult, started: number, signal?: AbortSignal): string {
  const { charges, providers, repairs } = result;
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const repaired = repairs === 0 ? "" : `, ${repairs} ${plural("difference", repairs)} repaired`;
  return signal?.aborted
    ? `stopped after ${seconds} s, ${charges} charges added${repaired}`
    : `${charges} charges added, ${providers} providers up to date, ${seconds} s${repaired}`;
}

/** Says whether long transactions are safe. */
function announcement(seesTransactions: boolean, margin: number): string {
  return seesTransactions
    ? "open transactions are visible: the watermark waits for those that are older than the margin"
    : `open transactions are not visible without the privilege PROCESS: a writer's must end within the margin of ${margin} s`;
}

/** Compares all rollups with the ledger, and repairs those that differ if asked to. */
async function verifyAll(database: Knex, { repair = false, ...flags }: Flags): Promise<void> {
  try {
    let differences = 0;
    for (const provider of (await database("providers").orderBy("id").pluck("id")).map(String)) {
      const before = differences;
      for await (const difference of verify(database, provider)) {
        console.log(difference);
        differences++;
      }
      if (repair && differences > before) await scheduleCheck(database, provider);
    }
    const { compared, missing } = await countRollups(database);
    const agreed =
      compared === 0 ? "there is no rollup to compare" : "the rollups agree with the ledger";
    const without =
      missing === 0 ? "" : `, ${missing} ${plural("provider", missing)} without a rollup`;
    console.log(
      (differences === 0 ? agreed : `${differences} ${plural("difference", differences)}`) +
        without,
    );
    if (differences === 0) return;
    process.exitCode = 1;
    if (!repair) return;
    const started = performance.now();
    const { margin, checkPeriod, concurrency } = flags;
    const result = await runOnce(database, {
      ...{ margin: margin * 1_000, checkPeriod: checkPeriod * 1_000, concurrency },
      seesTransactions: await canSeeTransactions(database),
    });
    console.log(lineOf(result, started));
  } finally {
    await database.destroy();
  }
}

/** Prints a warning, above the progress bar. */
function warn(message: string): void {
  console.error(redactKeys(message));
}

const warned = new Set<string>();

/** Prints a warning the first time. */
function warnOnce(message: string): void {
  if (!warned.has(message)) warn(message);
  warned.add(message);
}

function plural(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Shows the progress of a run. The bar shows nothing if stderr is not a terminal. */
function show(bar: SingleBar, { done, providers, charges, building = END }: RollupProgress): void {
  const position = building === END ? "" : `, building ${building.slice(0, 10)}`;
  if (!bar.isActive) bar.start(providers, 0, { charges: 0, building: "" });
  bar.update(done, { charges, building: position });
}

function toSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a number of seconds, such as 60.");
}

function toPause(text: string): number {
  if (toSeconds(text) > 0) return Number(text);
  throw new InvalidArgumentError("Expected more than 0 seconds.");
}

function toCount(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a number from 1 to 99.");
}
