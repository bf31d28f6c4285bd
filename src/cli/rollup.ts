/** `npm run rollup`: brings the rollups up to date, in the database in `DATABASE_URL`. */
import assert from "node:assert";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import type { Knex } from "knex";
import type { DatabaseUrl } from "../config.ts";
import { checkSession } from "../db/session-variables.ts";
import { HEARTBEAT_INTERVAL, WRITE_HEARTBEAT } from "../rollup/write/run/heartbeat.ts";
import { requireKeys } from "../rollup/write/run/keys.ts";
import { nothingCounted } from "../rollup/write/run/news.ts";
import { createRollupPool } from "../rollup/write/run/pool.ts";
import { needsNewConnections } from "../rollup/write/run/retry.ts";
import { canSeeTransactions } from "../rollup/write/run/writers.ts";
import type { RollupResult } from "../rollup/write/run.ts";
import type { Log } from "../telemetry/log.ts";
import { createCommand } from "./command.ts";
import { type RollupAdmin, startRollupAdmin } from "./rollup-admin.ts";
import { checkRights } from "./rollup-check.ts";
import { optionOf, ROLLUP_FLAGS } from "./rollup-flags.ts";
import { createRollupLog, warnOnceTo } from "./rollup-log.ts";
import { announce, createOutcomeLog, isWorthALine, logRun, runOnce } from "./rollup-report.ts";
import { stopOnSignal } from "./rollup-stop.ts";
import { verifyAll } from "./rollup-verify.ts";
import { followUrl, misspelledSettings, readLogLevel, runCommand, runOnDatabase } from "./run.ts";

interface Flags {
  readonly margin: number;
  readonly checkPeriod: number;
  readonly concurrency: number;
  readonly watch?: number;
  readonly rebuild?: boolean;
  readonly verify?: boolean;
  readonly repair?: boolean;
  readonly check?: boolean;
  readonly adminPort?: number;
}

/**
 * With `--watch`, a watermark waits until it can move by this part of the margin. Until then answers
 * read at most this part more rows than they have to anyway, and keep what they cached.
 */
const STEP = 1 / 3;
/** With `--watch`, the longest time from a run that lost its connections to the next one, in ms. */
const RETRY_DELAY = 1_000;

const program = createCommand("npm run rollup", "Brings the rollups in DATABASE_URL up to date.");
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
  .addOption(
    new Option("--check", "whether the account has its rights, and nothing else").conflicts([
      "rebuild",
      "verify",
    ]),
  )
  .action((flags: Flags) => {
    if (flags.check) return runOnDatabase(checkRights);
    // The variable may be set for the container in which somebody verifies.
    if (flags.verify && program.getOptionValueSource("watch") === "cli") {
      program.error("error: option '--verify' cannot be used with option '--watch <seconds>'");
    }
    return runCommand((url, host) => run(url, host, flags));
  });

async function run(first: DatabaseUrl, host: string, flags: Flags): Promise<void> {
  if (flags.repair && !flags.verify) throw new Error("--repair needs --verify");
  const connections = connectionsFor(flags);
  // What a comparison prints is its result, for a person or a file, and not the log of a process.
  const log = flags.verify ? createRollupLog("info", true) : createRollupLog(readLogLevel());
  const warnOnce = warnOnceTo(log);
  misspelledSettings(ROLLUP_FLAGS).forEach(warnOnce);
  const url = followUrl(first, log);
  const connect = () => createRollupPool(url, connections, warnOnce);
  if (flags.verify) return verifyAll(connect(), connections, flags, log);
  const { signal } = stopOnSignal(log);
  const { adminPort: port } = flags;
  await using admin =
    port === undefined ? undefined : await startRollupAdmin(url, host, port, signal, log);
  await runUntilStopped(connect, { flags, signal, log, warnOnce, admin });
}

/** The connections of the command: one for each provider in work, one for the clock, one for the heartbeat. */
const connectionsFor = ({ concurrency }: Flags) => concurrency + 2;

/** What runs need besides their connections. */
interface RunParts {
  readonly flags: Flags;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly warnOnce: (warning: string) => void;
  readonly admin: RollupAdmin | undefined;
}

/**
 * The states of the command, and which may follow on which. Without `--watch` a failure is that of the command.
 *
 * - looking at the session: it may be one of another server, or of an account that has lost a privilege.
 * - running.
 * - pausing, after either: for the time of `--watch`; not at all if there are builds to go on with. If the connections
 *   were lost, or the look failed, new ones are made first, since the old ones may lead to a server that no longer is the
 *   primary, and the pause is a second at most. After a failure it looks again.
 * - ended: by a signal, or without `--watch`. The exit code is 1 if a rollup was left behind.
 */
const MAY_FOLLOW = {
  looking: ["running", "pausing"],
  running: ["pausing"],
  pausing: ["looking", "running", "ended"],
  ended: [],
} as const satisfies Record<string, readonly string[]>;
type State = keyof typeof MAY_FOLLOW;

/** Runs once, or with `--watch` in turns until the signal aborts. */
async function runUntilStopped(connect: () => Knex, parts: RunParts): Promise<void> {
  const { signal, admin, flags } = parts;
  const [lookAtSession, run] = [createSessionCheck(parts), createRun(parts)];
  const outcomes = createOutcomeLog(parts.log);
  const usual = (flags.watch ?? 0) * 1_000;
  let database = connect();
  let seesTransactions = false;
  let pause = usual;
  let afterPause: State = "running";
  const steps = {
    async looking(): Promise<State> {
      seesTransactions = await lookAtSession(database);
      return "running";
    },
    async running(): Promise<State> {
      afterPause = "running";
      const result = await run(database, seesTransactions);
      pause = result.unfinished ? 0 : usual;
      if (result.failure) throw result.failure;
      outcomes.succeeded(result);
      admin?.succeeded(result);
      // Scripts wait for a 0 before they start services that need these rollups.
      if (flags.watch === undefined && result.behind > 0) process.exitCode = 1;
      return "pausing";
    },
    async pausing(): Promise<State> {
      if (flags.watch) await sleep(pause, undefined, { signal }).catch(() => {});
      pause = usual;
      return flags.watch && !signal.aborted ? afterPause : "ended";
    },
  };
  /** An unavailable database may come back. Meanwhile answers read more rows. */
  const fail = async (state: State, error: unknown): Promise<State> => {
    if (flags.watch === undefined) throw error;
    outcomes.failed(error);
    admin?.failed();
    const isLost = needsNewConnections(error);
    if (isLost) pause = Math.min(pause, RETRY_DELAY);
    if (isLost || state === "looking") {
      await database.destroy();
      database = connect();
    }
    afterPause = "looking";
    return "pausing";
  };
  // Beside the runs: neither a pause nor a step that waits for a lock makes answers look old.
  const beat = async () => {
    while (!signal.aborted) {
      await sleep(HEARTBEAT_INTERVAL, undefined, { signal, ref: false }).catch(() => {});
      await database.raw(WRITE_HEARTBEAT).catch(() => {});
    }
  };
  if (flags.watch) void beat();
  try {
    for (let state: State = "looking"; state !== "ended"; ) {
      const before: Exclude<State, "ended"> = state;
      const after: State = await steps[before]().catch((error) => fail(before, error));
      const allowed: readonly State[] = MAY_FOLLOW[before];
      assert(allowed.includes(after), `${after} after ${before}`);
      state = after;
    }
  } finally {
    await database.destroy();
  }
}

/**
 * Creates the look at a session before runs: whether it is as it was set up, and the database as runs need it. It
 * resolves to whether the account may see open transactions, and logs that if it is new.
 */
function createSessionCheck({ flags, log, warnOnce }: RunParts) {
  let before: boolean | undefined;
  return async (database: Knex): Promise<boolean> => {
    await checkSession(database, {}, connectionsFor(flags), warnOnce);
    await requireKeys(database);
    const sees = await canSeeTransactions(database);
    const isNews = sees !== before && (flags.watch !== undefined || !sees);
    if (isNews) announce(log, sees, flags.margin, before);
    before = sees;
    return sees;
  };
}

/** Creates the run of the command. `--rebuild` holds until a run has ended. */
function createRun({ flags, log, signal, admin }: RunParts) {
  const { watch, margin, checkPeriod, concurrency } = flags;
  let { rebuild = false } = flags;
  const counted = nothingCounted();
  return async (database: Knex, seesTransactions: boolean): Promise<RollupResult> => {
    const result = await runOnce(database, log, {
      report: ({ rowsLeft, repair }) => {
        admin?.building(rowsLeft);
        if (repair) admin?.repaired();
      },
      margin: margin * 1_000,
      checkPeriod: checkPeriod * 1_000,
      seesTransactions,
      concurrency,
      rebuild,
      signal,
      ...(watch !== undefined && {
        maxTime: watch * 1_000,
        step: margin * STEP * 1_000,
        counted,
      }),
    });
    rebuild = false;
    admin?.finished(result);
    if (!result.failure && (watch === undefined || isWorthALine(result))) logRun(log, result);
    return result;
  };
}

// At the end, when all constants have their values.
await program.parseAsync();
