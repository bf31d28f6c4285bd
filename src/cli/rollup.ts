/** `npm run rollup`: brings the rollups up to date, in the database in `DATABASE_URL`. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import type { Knex } from "knex";
import type { DatabaseUrl } from "../config.ts";
import { fromDatetime } from "../db/datetime.ts";
import { checkSession } from "../db/session-variables.ts";
import { canSeeTransactions } from "../rollup/write/run/clock.ts";
import { createHeartbeat, HEARTBEAT_INTERVAL } from "../rollup/write/run/heartbeat.ts";
import { createRollupPool } from "../rollup/write/run/pool.ts";
import { checkRecording } from "../rollup/write/run/recording.ts";
import { needsNewConnections } from "../rollup/write/run/retry.ts";
import { errorFields } from "../telemetry/error-fields.ts";
import type { Log } from "../telemetry/log.ts";
import { createSampledLog, logOpenSums } from "../telemetry/sampled-log.ts";
import { formatError } from "./format-error.ts";
import { type RollupAdmin, startRollupAdmin } from "./rollup-admin.ts";
import { optionOf, ROLLUP_FLAGS } from "./rollup-flags.ts";
import { createRollupLog, createTerminalLog, warnOnceTo } from "./rollup-log.ts";
import { announce, isWorthALine, logRun, nameOf, runOnce } from "./rollup-report.ts";
import { verifyAll } from "./rollup-verify.ts";
import { misspelledSettings, readLogLevel, runCommand } from "./run.ts";

interface Flags {
  readonly margin: number;
  readonly checkPeriod: number;
  readonly concurrency: number;
  readonly watch?: number;
  readonly rebuild?: boolean;
  readonly verify?: boolean;
  readonly repair?: boolean;
  readonly adminPort?: number;
}

/**
 * With `--watch`, a watermark waits until it can move by this part of the margin. Until then answers
 * read at most this part more rows than they have to anyway, and keep what they cached.
 */
const STEP = 1 / 3;
/**
 * The longest stop after a signal, in ms: a database that is silent would hold it up for ever. The pool
 * gives up a connection after 5 s.
 */
const STOP_GRACE = 10_000;
/** How often a run that lost its connections is tried again, and after how long, in ms. */
const [RETRIES, RETRY_DELAY] = [3, 1_000];
/** In so many ms, a reason for which runs fail has one line, and one with the count of the others. */
const FAILURE_WINDOW = 60_000;

const program = new Command("rollup").description("Brings the rollups up to date.");
for (const flag of ROLLUP_FLAGS) program.addOption(optionOf(flag));
program
  .option("--rebuild", "build every rollup again; queries use the old one meanwhile")
  .addOption(
    new Option(
      "--verify",
      "compare with the ledger and print every difference; exit code 1 if there is one",
    ).conflicts(["rebuild"]),
  )
  .option("--repair", "with --verify: remove the differences")
  .action((flags: Flags) => {
    // The variable may be set for the container in which somebody verifies.
    if (flags.verify && program.getOptionValueSource("watch") === "cli") {
      program.error("error: option '--verify' cannot be used with option '--watch <seconds>'");
    }
    return runCommand((url, host) => run(url, host, flags));
  });

async function run(url: DatabaseUrl, host: string, flags: Flags): Promise<void> {
  if (flags.repair && !flags.verify) throw new Error("--repair needs --verify");
  const connections = connectionsFor(flags);
  // What a comparison prints is its result, for a person or a file, and not the log of a process.
  const log = flags.verify ? createTerminalLog() : createRollupLog(readLogLevel());
  const warnOnce = warnOnceTo(log);
  misspelledSettings(ROLLUP_FLAGS).forEach(warnOnce);
  const connect = () => createRollupPool(url, connections, warnOnce);
  if (flags.verify) return verifyAll(connect(), connections, flags, log);
  const { signal } = stopOnSignal(log);
  const { adminPort } = flags;
  await using admin =
    adminPort === undefined ? undefined : await startRollupAdmin(url, host, adminPort, signal, log);
  try {
    await runUntilStopped(connect, { flags, signal, log, warnOnce, admin });
  } finally {
    logOpenSums();
  }
}

/** The connections of the command: one for each provider in work, one for the clock, one for the heartbeat. */
const connectionsFor = ({ concurrency }: Flags) => concurrency + 2;

/**
 * Aborts at SIGTERM, SIGINT or SIGHUP: the command then ends after the piece of work that it is at, or after
 * a grace. A second SIGINT ends it at once. Either loses that piece, and no more.
 */
function stopOnSignal(log: Log): AbortController {
  const stop = new AbortController();
  const abort = () => {
    stop.abort();
    setTimeout(() => {
      const text = `the database did not answer within ${STOP_GRACE / 1_000} s of the signal`;
      log.warn({ text }, text);
      process.exit(1);
    }, STOP_GRACE).unref();
  };
  process.once("SIGTERM", abort);
  process.once("SIGINT", abort);
  process.once("SIGHUP", abort);
  return stop;
}

/** What runs need besides their connections. */
interface RunParts {
  readonly flags: Flags;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly warnOnce: (warning: string) => void;
  readonly admin: RollupAdmin | undefined;
}

/**
 * Runs once, or until the signal aborts. After a failure the connections are closed: they may lead
 * to a server that no longer is the primary.
 */
async function runUntilStopped(
  connect: () => Knex,
  { flags, signal, log, warnOnce, admin }: RunParts,
): Promise<void> {
  const { watch, margin, checkPeriod, concurrency, rebuild = false } = flags;
  const heartbeat = createHeartbeat();
  const failureLog = createSampledLog(log, { by: "reason", limit: 1, window: FAILURE_WINDOW });
  let [first, failures, waitedFor] = [true, 0, 0];
  let database = connect();
  // By a timer: neither a pause nor a step that waits for a lock makes answers look old.
  const beating =
    watch === undefined
      ? undefined
      : setInterval(() => heartbeat(database).catch(() => {}), HEARTBEAT_INTERVAL).unref();
  try {
    let seesTransactions: boolean | undefined;
    for (;;) {
      let pause = (watch ?? 0) * 1_000;
      try {
        if (seesTransactions === undefined) {
          await checkSession(database, {}, connectionsFor(flags), warnOnce);
          await checkRecording(database, warnOnce);
          seesTransactions = await canSeeTransactions(database);
          if (watch !== undefined || !seesTransactions) announce(log, seesTransactions, margin);
        }
        const result = await runOnce(database, log, {
          report: ({ building }) => admin?.building(building?.rowsLeft ?? 0),
          repaired: () => admin?.repaired(),
          // Also if some providers failed: a rebuild builds the others once.
          finished: (result) => {
            first = false;
            admin?.finished(result);
          },
          margin: margin * 1_000,
          checkPeriod: checkPeriod * 1_000,
          seesTransactions,
          concurrency,
          rebuild: rebuild && first,
          signal,
          ...(watch !== undefined && { maxTime: pause, step: margin * STEP * 1_000, heartbeat }),
        });
        if (watch === undefined || isWorthALine(result)) logRun(log, result, signal);
        if (failures > 0) {
          const text = `runs succeed again, after ${failures} that failed`;
          log.info({ text, failures }, "runs succeed again");
        }
        failures = 0;
        admin?.succeeded(result);
        const { waitsFor } = result;
        const began = waitsFor && (waitsFor.began ? fromDatetime(waitsFor.began) : -Infinity);
        // The start of a statement is known to a second only: the same one may look a second older.
        if (waitsFor && began !== undefined && Math.abs(began - waitedFor) > 1_000) {
          waitedFor = began;
          const text = `the watermark waits for ${nameOf(waitsFor)}`;
          log.warn(
            { text, began: waitsFor.began ?? "before the start of the database" },
            "the watermark waits",
          );
        }
        if (result.unfinished) pause = 0;
      } catch (error) {
        const connected = seesTransactions !== undefined;
        const retry = connected && needsNewConnections(error) && failures < RETRIES;
        if (watch === undefined && !retry) throw error;
        failures++;
        admin?.failed();
        // An unavailable database may come back. Meanwhile answers read more rows.
        const reason = formatError(error);
        const text = `run failed, will retry: ${reason}`;
        failureLog.warn({ text, reason, cause: errorFields(error) }, "run failed, will retry");
        await database.destroy();
        database = connect();
        pause = Math.min(watch === undefined ? RETRY_DELAY : pause, RETRY_DELAY);
      }
      if (signal.aborted || (watch === undefined && failures === 0)) return;
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  } finally {
    clearInterval(beating);
    await database.destroy();
  }
}

// At the end, when all constants have their values.
await program.parseAsync();
