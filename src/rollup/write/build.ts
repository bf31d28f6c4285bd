/**
 * Building a provider's rollup as a new generation, while queries use the current one. Each segment
 * is one short transaction, in order of the timeline, so a killed build resumes after its last
 * checkpoint. The last transaction makes the new generation current.
 */
import type { Knex } from "knex";
import type { RollupState } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END, endOfMonth, monthOf, START } from "../timeline.ts";
import { changeHeld, rentalsFrom } from "./ledger/held-rentals.ts";
import { nextBoundary, type Segment } from "./ledger/segment.ts";
import { sumMonths, sumSegment } from "./ledger/sums.ts";
import { readState } from "./state.ts";
import {
  addToMonths,
  inShortTransaction,
  inSnapshot,
  insertCheckpoint,
  readTotals,
  rowsOf,
  type Version,
} from "./store.ts";
import { chargesOf, grossOf, plus, type TotalsByKey } from "./totals-by-key.ts";

/** The maximum time from a build to the first check, in seconds. */
const FIRST_CHECK = 86_400;

/** A build in progress. Its watermark is fixed when it begins. */
type Build = Version & RollupState;

/**
 * Begins a build up to `watermark`, or resumes the one in progress, unless its watermark lies ahead
 * of the database's clock.
 *
 * @param restart begins a new build even if one is in progress
 * @param replaces the generation to replace. If another run has replaced it since, no build begins,
 *   and the current one is returned. Default: any
 */
export function beginBuild(
  database: Knex,
  provider: string,
  watermark: string,
  restart = false,
  replaces?: string,
): Promise<Build> {
  return inShortTransaction(database, async (transaction) => {
    // Not IGNORE: it locks a row that exists for reading, and two runs would wait for each other.
    await transaction(TABLES.state).insert({ provider_id: provider }).onConflict().merge();
    const state = await readState(transaction, provider, true);
    const { generation: current, build } = state;
    if (Number(current) > Number(replaces ?? current)) return { ...state, provider };
    if (!restart && build && build.watermark <= state.now) return { ...build, provider };
    // If the row of the state was deleted by hand, there may be rows of later generations.
    const used = [current, build?.generation];
    for (const table of [TABLES.checkpoints, TABLES.rentals]) {
      const rows = transaction(table).where({ provider_id: provider });
      used.push((await rows.max("generation as generation").first())?.generation);
    }
    const generation = Math.max(...used.map((generation) => Number(generation ?? 0))) + 1;
    await transaction(TABLES.state)
      .where({ provider_id: provider })
      .update({ build_generation: generation, build_cut: watermark });
    return { provider, generation: String(generation), watermark };
  });
}

/**
 * Builds the next segment. Resolves to the checkpoint at its end, which is `END` if the build is
 * complete, and the number of its charges; `undefined` if the build is no longer in progress,
 * because another run completed it or restarted it.
 */
export async function buildSegment(
  database: Knex,
  build: Build,
  size: number,
): Promise<{ readonly at: string; readonly charges: number } | undefined> {
  const { provider, watermark } = build;
  const { from, to, sums, held, totals, months } = await inSnapshot(database, async (reader) => {
    const from = await lastCheckpoint(reader, build);
    const to = await nextBoundary(reader, { provider, from, to: END }, size);
    const segment = { provider, from, to };
    const sums = await sumSegment(reader, segment, build);
    // Listed with their starts: one that is written again before its end is added stays covered.
    const held = await rentalsFrom(reader, segment, build);
    const months = await monthsOf(reader, segment, watermark, sums);
    const totals = plus(await readTotals(reader, build, from), sums);
    return { from, to, sums, held, months, totals };
  });
  return inShortTransaction(database, async (transaction) => {
    const state = await readState(transaction, provider, true);
    if (state.build?.generation !== build.generation) return undefined;
    // A generation number is used again if the row of the state was deleted by hand.
    if (state.build.watermark !== build.watermark) return undefined;
    if ((await lastCheckpoint(transaction, build)) !== from) return { at: from, charges: 0 };
    const version = { provider, generation: build.generation };
    await insertCheckpoint(transaction, { ...version, at: to, totals });
    await changeHeld(transaction, [{ ...version, missing: held, surplus: [] }]);
    await addToMonths(
      transaction,
      [...months].map(([month, gross]) => ({ ...version, month, gross })),
    );
    if (to === END) await makeCurrent(transaction, build);
    return { at: to, charges: chargesOf(sums) };
  });
}

/** Makes a complete build the current generation. */
async function makeCurrent(transaction: Knex.Transaction, build: Build): Promise<void> {
  await transaction(TABLES.state)
    .where({ provider_id: build.provider })
    .update({
      generation: build.generation,
      cut: build.watermark,
      build_generation: null,
      build_cut: null,
      // The time, so that no number comes again for a cache if somebody empties the tables.
      revision: transaction.raw("GREATEST(revision + 1, UNIX_TIMESTAMP())"),
      check_from: START,
      // At some time of the first day, so that rollups built together are not all due at once.
      check_at: transaction.raw("UTC_TIMESTAMP(3) + INTERVAL ? SECOND", [
        Math.round(Math.random() * FIRST_CHECK),
      ]),
    });
}

/** The gross of a segment by month. A segment within a month needs no query. */
async function monthsOf(
  reader: Knex.Transaction,
  segment: Segment,
  watermark: string,
  sums: TotalsByKey,
): Promise<ReadonlyMap<number, bigint>> {
  if (chargesOf(sums) === 0) return new Map();
  const month = monthOf(segment.from);
  if (segment.to <= endOfMonth(month)) return new Map([[month, grossOf(sums)]]);
  const [months = new Map()] = await sumMonths(reader, [segment], watermark);
  return months;
}

async function lastCheckpoint(database: Knex.Transaction, version: Version): Promise<string> {
  const row = await rowsOf(database, TABLES.checkpoints, version).max("at as at").first();
  return row?.at ?? START;
}
