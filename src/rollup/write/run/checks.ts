/** The checks of a run: of the rollups that are due, or of the one that is due next. */
import type { Knex } from "knex";
import { TABLES } from "../../coverage.ts";
import { FORMAT } from "../../sums.ts";
import { checkSlice } from "../check.ts";
import { purge } from "../purge.ts";
import type { Repair } from "../repair.ts";
import { readPages } from "./pages.ts";
import { withRetry } from "./retry.ts";
import { runTasks } from "./tasks.ts";

/** What the checks of a run need. */
interface Checks {
  /** The time within which a whole rollup is compared, in ms. */
  readonly period: number;
  readonly concurrency: number;
  readonly repaired: (repair: Repair) => void;
  /** Whether the command ends. */
  readonly stopped: () => boolean;
  /** Whether the time of the run is up. One rollup is checked even then. */
  readonly outOfTime: () => boolean;
  /** Runs work for one provider, whose own errors do not stop the run. */
  readonly attempt: (provider: string, work: () => Promise<void>) => Promise<void>;
  /** Builds a version of a provider's rollup again: there is too much to repair, or its leaves are too long. */
  readonly build: (outdated: {
    readonly provider: string;
    readonly version: string;
  }) => Promise<unknown>;
}

/** Checks rollups. Resolves to the number of rollups of which a slice was compared. */
export async function checkRollups(database: Knex, checks: Checks): Promise<number> {
  const { period, concurrency, stopped, outOfTime, attempt } = checks;
  let checked = 0;
  const check = (provider: string) =>
    attempt(provider, async () => {
      await checkProvider(database, provider, checks);
      checked++;
    });
  const enough = () => stopped() || (checked > 0 && outOfTime());
  await runTasks(await findDue(database, period), concurrency, check, enough);
  return checked;
}

/**
 * The providers with a rollup of which a slice is due, in order of its time; if there are none, the one that is due next.
 * A time more than a period away was set for a longer period, or by a clock that had jumped: it is due.
 */
async function findDue(database: Knex, period: number): Promise<string[]> {
  const rollups = () => database(TABLES.rollups).where({ format: FORMAT, building: 0 });
  const rows = await readPages<DueRow>((after) =>
    rollups()
      .whereRaw(
        `(check_at <= GREATEST(UTC_TIMESTAMP(3), ?)
          OR check_at > UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND)`,
        [rollups().min("check_at"), Math.round(period * 1_000)],
      )
      .where((where) => after && where.whereRaw("(check_at, provider_id) > (?, ?)", keyOf(after)))
      .orderBy(["check_at", "provider_id"])
      .select("provider_id", "check_at"),
  );
  return rows.map(({ provider_id }) => String(provider_id));
}

interface DueRow {
  readonly provider_id: string | number;
  readonly check_at: string;
}
const keyOf = ({ check_at, provider_id }: DueRow) => [check_at, provider_id];

/**
 * How long ago the slice was compared that was compared least recently, in ms, at most; 0 without a rollup.
 * The next slice of a rollup was compared within the period before it is due. After a pause of more than a
 * period it may have been longer, until all has been compared.
 */
export async function readCheckAge(database: Knex, period: number): Promise<number> {
  const waiting = database.raw(
    "TIMESTAMPDIFF(MICROSECOND, MIN(check_at), UTC_TIMESTAMP(3)) AS waiting",
  );
  const row = await database(TABLES.rollups)
    .where({ format: FORMAT, building: 0 })
    .first<{ readonly waiting: string | number | null }>(waiting);
  const age = row.waiting === null ? 0 : Number(row.waiting) / 1_000 + period;
  return Math.max(0, age);
}

/** Compares the slices of a provider that are due, and deletes what a killed run has left. */
async function checkProvider(
  database: Knex,
  provider: string,
  { period, repaired, stopped, outOfTime, build }: Checks,
): Promise<void> {
  await withRetry(() => purge(database, provider));
  for (;;) {
    const checked = await withRetry(() => checkSlice(database, provider, { period, repaired }));
    if (typeof checked === "object") await build({ provider, version: checked.outdated });
    if (checked !== "more" || stopped() || outOfTime()) return;
  }
}
