/** `npm run rollup -- --verify`: compares the rollups with the ledger. */
import type { Knex } from "knex";
import { checkSession } from "../db/session-variables.ts";
import { readChecked } from "../rollup/write/run/due.ts";
import { requireKeys } from "../rollup/write/run/keys.ts";
import { readProviders } from "../rollup/write/run/pages.ts";
import { canSeeTransactions } from "../rollup/write/run/writers.ts";
import { scheduleCheck } from "../rollup/write/state.ts";
import { verify } from "../rollup/write/verify.ts";
import type { Log } from "../telemetry/log.ts";
import { warnOnceTo } from "./rollup-log.ts";
import { logRun, runOnce } from "./rollup-report.ts";

/** The longest period for which repairs are made due, in ms: far below the week of `scheduleCheck`. */
const MAX_PERIOD = 86_400_000;

/** How to compare, and the flags of the run that repairs. Times in s. */
interface VerifyFlags {
  readonly repair?: boolean;
  readonly margin: number;
  readonly checkPeriod: number;
  readonly concurrency: number;
}

/**
 * Compares all rollups with the ledger, and repairs those that differ if asked to. The exit code is 1 if
 * any does. Closes the pool.
 *
 * @param connections the size of the pool
 */
export async function verifyAll(
  database: Knex,
  connections: number,
  { repair = false, ...flags }: VerifyFlags,
  log: Log,
): Promise<void> {
  const period = Math.min(flags.checkPeriod * 1_000, MAX_PERIOD);
  try {
    await checkSession(database, {}, connections, warnOnceTo(log));
    await requireKeys(database);
    let differences = 0;
    for (const provider of await readProviders(database)) {
      const before = differences;
      for await (const difference of verify(database, provider)) {
        console.log(difference);
        differences++;
      }
      if (repair && differences > before) await scheduleCheck(database, provider, period);
    }
    const { rollups } = await readChecked(database, period);
    if (differences === 0) {
      console.log(
        rollups === 0 ? "there is no rollup to compare" : "the rollups agree with the ledger",
      );
      return;
    }
    console.log(differences === 1 ? "1 difference" : `${differences} differences`);
    process.exitCode = 1;
    if (!repair) return;
    const { margin, concurrency } = flags;
    const result = await runOnce(database, log, {
      margin: margin * 1_000,
      checkPeriod: period,
      concurrency,
      seesTransactions: await canSeeTransactions(database),
    });
    if (result.failure) throw result.failure;
    logRun(log, result);
  } finally {
    await database.destroy();
  }
}
