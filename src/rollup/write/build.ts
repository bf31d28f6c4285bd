/**
 * Building a provider's rollup from nothing, beside the one that is read: segment by
 * segment along the time of the charges, each in a short transaction of its own, so that a
 * killed build is taken up where it was. Only the last step makes it the one that is read.
 */
import type { Knex } from "knex";
import { END, START } from "../timeline.ts";
import { nextBoundary, sumSegment } from "./ledger.ts";
import {
  insertCheckpoint,
  type RollupState,
  readState,
  readTotals,
  type Version,
  writeMonths,
} from "./store.ts";
import { plus } from "./totals-by-key.ts";

/** A build as it was begun: what it holds is decided by its watermark. */
export interface Build extends Version {
  readonly watermark: string;
}

/**
 * Begins a build up to `watermark`, or takes up the one that is under way.
 *
 * @param anew whether a build that is under way is left, and a new one begun
 */
export function beginBuild(
  database: Knex,
  provider: string,
  watermark: string,
  anew = false,
): Promise<Build> {
  return inShortTransaction(database, async (transaction) => {
    await transaction("rollups").insert({ provider_id: provider }).onConflict().ignore();
    const state = (await readState(transaction, provider, true)) as RollupState;
    if (!anew && state.buildGeneration !== null && state.buildWatermark !== null) {
      return { provider, generation: state.buildGeneration, watermark: state.buildWatermark };
    }
    // After whatever has rows, also where somebody deleted the provider's row of `rollups`.
    const last = await transaction("rollup_checkpoints")
      .where({ provider_id: provider })
      .max("generation as generation")
      .first();
    const known = [state.generation, state.buildGeneration ?? 0, last?.generation ?? 0];
    const generation = Math.max(...known) + 1;
    await transaction("rollups")
      .where({ provider_id: provider })
      .update({ build_generation: generation, build_cut: watermark });
    return { provider, generation, watermark };
  });
}

/** Whether a build was begun and is not through. */
export async function isBuilding(database: Knex, provider: string): Promise<boolean> {
  const state = await database.transaction((reader) => readState(reader, provider), {
    readOnly: true,
  });
  return state !== undefined && state.buildGeneration !== null;
}

/** How far a build is. */
export interface BuildStep {
  /** Until which instant of the ledger; END when it is through. */
  readonly at: string;
  /** How many charges the step added. */
  readonly charges: number;
}

/**
 * Builds the next segment, from where the database says that the build is; `undefined` where
 * the build is no longer under way: somebody else finished it, or began another one.
 */
export async function buildSegment(
  database: Knex,
  build: Build,
  size: number,
): Promise<BuildStep | undefined> {
  const { provider, watermark } = build;
  const { from, to, before, sums } = await database.transaction(
    async (reader) => {
      const from = await lastCheckpoint(reader, build);
      const rest = { provider, from, to: END };
      const to = await nextBoundary(reader, rest, size);
      const sums = await sumSegment(reader, { ...rest, to }, watermark);
      return { from, to, before: await readTotals(reader, build, from), sums };
    },
    { readOnly: true },
  );
  return inShortTransaction(database, async (transaction) => {
    const state = await readState(transaction, provider, true);
    if (state?.buildGeneration !== build.generation) return undefined;
    if ((await lastCheckpoint(transaction, build)) !== from) return { at: from, charges: 0 };
    await insertCheckpoint(transaction, build, to, plus(before, sums));
    if (to === END) await makeCurrent(transaction, build);
    return { at: to, charges: sums.values().reduce((sum, { charges }) => sum + charges, 0) };
  });
}

/** Makes a finished build the version that is read. */
async function makeCurrent(transaction: Knex.Transaction, build: Build): Promise<void> {
  await writeMonths(transaction, build);
  await transaction("rollups").where({ provider_id: build.provider }).update({
    generation: build.generation,
    cut: build.watermark,
    build_generation: null,
    build_cut: null,
  });
}

async function lastCheckpoint(
  database: Knex.Transaction,
  { provider, generation }: Version,
): Promise<string> {
  const row = await database("rollup_checkpoints")
    .where({ provider_id: provider, generation })
    .max("at as at")
    .first();
  return row?.at ?? START;
}

/** How many rows of an old version go at once. */
const SWEEP = 5_000;

/**
 * Deletes what is left of the versions before the one that is read. Not of later ones: they may
 * be a build that was begun while this goes on.
 */
export async function purge(database: Knex, provider: string): Promise<void> {
  const state = await database.transaction((reader) => readState(reader, provider), {
    readOnly: true,
  });
  if (!state) return;
  for (const table of ["rollup_figures", "rollup_months", "rollup_checkpoints"]) {
    const old = await database(table)
      .distinct("generation")
      .where({ provider_id: provider })
      .andWhere("generation", "<", state.generation);
    for (const { generation } of old) {
      let deleted: number;
      do {
        deleted = await database(table)
          .where({ provider_id: provider, generation })
          .limit(SWEEP)
          .del();
      } while (deleted === SWEEP);
    }
  }
}

/** A short transaction that writes: READ COMMITTED, so that it locks nothing but its own rows. */
export function inShortTransaction<T>(
  database: Knex,
  work: (transaction: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(work, { isolationLevel: "read committed" });
}
