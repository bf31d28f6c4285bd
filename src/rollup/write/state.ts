/** The rows of the table `rollups`: the rollup that is read of a provider, and the one that is built. */

import { randomBytes } from "node:crypto";
import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import type { Length } from "../stretches.ts";
import { FORMAT } from "../sums.ts";
import { withRetry } from "./run/retry.ts";

/** A rollup of a provider. */
export interface Rollup {
  readonly provider: string;
  /** Whether it is being built. */
  readonly building: boolean;
  /** Which of the two sets of rows in `rollup_sums` is its own: 0 or 1. */
  readonly slot: number;
  /** Another one after each change. */
  readonly version: string;
  /** Recording time, as DATETIME(3) text in UTC. */
  readonly watermark: string;
  /** The length of its leaves. */
  readonly leaf: Length;
  /** Event time from which the next slice of the check begins, or the next step of the build. */
  readonly nextFrom: string;
  /** The charges, starts and ends of rentals that are left of a build, about. */
  readonly rowsLeft: number;
  /** When the next slice of the check is due, by the database's clock. */
  readonly checkAt: string;
  /** The database's clock when this was read. */
  readonly now: string;
}

/** What a provider has. */
export interface Rollups {
  readonly current: Rollup | undefined;
  readonly build: Rollup | undefined;
}

/** Reads the rollups of a provider. `lock` locks the rows. */
export async function readRollups(
  database: Knex.Transaction,
  provider: string,
  lock = false,
): Promise<Rollups> {
  const query = database(TABLES.rollups)
    .select("*", database.raw("UTC_TIMESTAMP(3) AS read_at"))
    .where({ provider_id: provider, format: FORMAT })
    .orderBy("building");
  const rows = await (lock ? query.forUpdate() : query);
  const rollups = rows.map(
    (row): Rollup => ({
      provider,
      building: Number(row.building) === 1,
      slot: Number(row.slot),
      version: String(row.version),
      watermark: row.watermark,
      leaf: row.leaf,
      // A program of another format has begun to delete what is in the slot.
      nextFrom: row.next_from ?? FIRST_INSTANT,
      rowsLeft: Number(row.rows_left),
      checkAt: row.check_at,
      now: row.read_at,
    }),
  );
  return {
    current: rollups.find(({ building }) => !building),
    build: rollups.find(({ building }) => building),
  };
}

/** The row of a rollup in the table. */
export function rowOf(database: Knex.Transaction, { provider, building }: Rollup) {
  const key = { provider_id: provider, format: FORMAT, building: Number(building) };
  return database(TABLES.rollups).where(key);
}

/** SQL condition: the sums are those of a rollup. It has bindings for provider and slot. */
export const OF_ROLLUP = `provider_id = ? AND format = ${FORMAT} AND slot = ?`;
/** What follows FROM for them, and for its increments. */
export const STORED = `${TABLES.sums} WHERE ${OF_ROLLUP}`;
export const INCREMENTS = `${TABLES.increments} WHERE ${OF_ROLLUP}`;

/** A version that no rollup has had. It has 63 bits: MySQL takes a parameter for a signed number. */
export function newVersion(): string {
  return String(BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()) || 1n);
}

/**
 * Makes the whole rollup of a provider due for a check: its first slice was due a period ago. The period
 * must be far below the week after which a format whose checks are not made counts as unused. The version
 * is a new one, so that a check that is at work cannot write over it.
 *
 * @param period the time within which a whole rollup is compared, in ms
 */
export async function scheduleCheck(
  database: Knex,
  provider: string,
  period: number,
): Promise<void> {
  await database(TABLES.rollups)
    .where({ provider_id: provider, format: FORMAT, building: 0 })
    .update({
      version: newVersion(),
      next_from: FIRST_INSTANT,
      check_at: database.raw("UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND", [period * 1_000]),
    });
}

/** Runs work in a transaction; again in another one, if it fails for a reason that passes. */
const inTransaction =
  (isolation: Knex.TransactionConfig) =>
  <T>(database: Knex, work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> =>
    withRetry(() => database.transaction(work, isolation));

/**
 * A transaction that writes, as READ COMMITTED, which locks the rows that it writes and no gaps. It is also run again if
 * only the answer to COMMIT was lost, so it must do nothing the second time.
 */
export const inShortTransaction = inTransaction({ isolationLevel: "read committed" });

/**
 * The isolation of a snapshot. It is stated as that of short transactions is: behind a proxy (Vitess),
 * what a transaction asks for may hold for the next ones of its session.
 */
export const REPEATABLE_READ: Knex.TransactionConfig = { isolationLevel: "repeatable read" };

/** Queries on one snapshot. */
export const inSnapshot = inTransaction(REPEATABLE_READ);
