/**
 * Building a provider's rollup in a slot of its own, while queries use the current one: `build-state.ts` has its states.
 */

import assert from "node:assert";
import type { Knex } from "knex";
import { DAY, FIRST_INSTANT, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { chooseLeaf, rowsPerLeaf, stepsShorter } from "../leaves.ts";
import { isLength } from "../stretches.ts";
import { COUNT_NAMES, FORMAT } from "../sums.ts";
import { readBoundaries } from "./boundaries.ts";
import { movedTo, stateOf } from "./build-state.ts";
import { type Change, computeChange, writeChange } from "./change.ts";
import { ownersOf, rowsByDay } from "./ledger.ts";
import { purge } from "./purge.ts";
import { chargesOf, refresh } from "./refresh.ts";
import { nextSlice } from "./slice.ts";
import {
  inShortTransaction,
  inSnapshot,
  newVersion,
  type Rollup,
  readRollups,
  rowOf,
} from "./state.ts";

/** How many charges, starts or ends of rentals a step adds, about. */
const STEP_ROWS = 16_000;
/** The days that count as recent. */
const RECENT = 90;
/** The maximum time from a build to the first check, in seconds. */
const FIRST_CHECK = 86_400;

/**
 * Begins a build up to `watermark`, or goes on with the one in progress. That one begins anew if its
 * watermark lies ahead of the database's clock, or its leaves have no length, which cannot be true.
 *
 * @param replaces the version of the rollup to replace, undefined for none. If there is another one by
 *   now, no build begins, and this resolves to false
 * @param rebuild replaces whatever there is, and begins anew if a build is in progress
 */
export async function beginBuild(
  database: Knex,
  provider: string,
  watermark: string,
  replaces: string | undefined,
  rebuild: boolean,
): Promise<boolean> {
  const isGoingOn = (build: Rollup) =>
    !rebuild && build.watermark <= build.now && isLength(build.leaf);
  const before = await inSnapshot(database, (reader) => readRollups(reader, provider));
  if (before.build && isGoingOn(before.build)) return true;
  const { leaf, rows } = await chooseLength(database, provider);
  const key = { provider_id: provider, format: FORMAT, building: 1 };
  const begun = { version: newVersion(), watermark, leaf, check_at: watermark, rows_left: rows };
  return inShortTransaction(database, async (transaction) => {
    // First of all, so that there is a row to lock: otherwise another run could begin a build, and complete it.
    await transaction(TABLES.rollups)
      .insert({ ...key, ...begun, slot: 0, next_from: FIRST_INSTANT })
      .onConflict()
      .ignore();
    const { current, build } = await readRollups(transaction, provider, true);
    assert(build, "a build that was begun, or is there, is locked");
    const isOwn = build.version === begun.version;
    if (!isOwn && isGoingOn(build)) return true;
    if (!rebuild && current?.version !== replaces) {
      if (isOwn) await rowOf(transaction, build).del();
      return false;
    }
    const slot = current ? 1 - current.slot : 0;
    await rowOf(transaction, build).update({ ...begun, slot, ...movedTo(build, "begun") });
    return true;
  });
}

/** The first of the days that count as recent. */
const recentDay = () => toDatetime(Date.now() - RECENT * DAY).slice(0, 10);

/** The length of leaves that suits the rows of a provider, and the number of these. */
async function chooseLength(reader: Knex, provider: string) {
  const limit = rowsPerLeaf(await ownersOf(reader, provider));
  const [all, since] = [await rowsByDay(reader, provider), recentDay()];
  const recent = new Map([...all].filter(([day]) => day >= since));
  const rows = all.values().reduce((sum, count) => sum + count, 0);
  const [ofAll, ofRecent] = [chooseLeaf(all, limit), chooseLeaf(recent, limit)];
  return { rows, leaf: stepsShorter(ofRecent, ofAll) > 0 ? ofRecent : ofAll };
}

/** Whether the rows of the last months would have a rollup's leaves two steps shorter. */
export async function hasOutgrown(reader: Knex.Transaction, rollup: Rollup): Promise<boolean> {
  const limit = rowsPerLeaf(await ownersOf(reader, rollup.provider));
  const recent = await rowsByDay(reader, rollup.provider, recentDay());
  return stepsShorter(chooseLeaf(recent, limit), rollup.leaf) >= 2;
}

/** What a step of a build came to. */
interface BuildStep {
  /** The number of charges added. */
  readonly charges: number;
  /** The number of charges, starts and ends of rentals that are left, about. */
  readonly rowsLeft: number;
  /** Whether the rollup is the current one now. */
  readonly done: boolean;
}

/**
 * Makes the next step of the build in progress. Resolves to undefined if there is none any more, because
 * another run has completed it.
 *
 * @param until the watermark that the complete rollup should have
 * @param rows the number of charges, starts or ends of rentals that a step adds, about
 */
export async function buildStep(
  database: Knex,
  provider: string,
  until: string,
  rows = STEP_ROWS,
): Promise<BuildStep | undefined> {
  const { build } = await inSnapshot(database, (reader) => readRollups(reader, provider));
  if (build === undefined) return undefined;
  const { rowsLeft } = build;
  const state = stateOf(build);
  if (state !== "complete") {
    if (state === "begun") await purge(database, provider);
    const { change, next } = await inSnapshot(database, (reader) =>
      computeStep(reader, build, rows),
    );
    const left = Math.max(0, rowsLeft - rowsOf(change));
    const moved = movedTo(build, next === LAST_INSTANT ? "complete" : "filling", next);
    const written = await writeChange(database, change, { ...moved, rows_left: left });
    const charges = written ? chargesOf(change) : 0;
    return { charges, rowsLeft: left, done: false };
  }
  // Without this, answers would read much raw until the next run.
  const refreshed = await refresh(database, provider, until, true);
  if (refreshed.rebuild === "damaged") {
    await beginBuild(database, provider, until, undefined, true);
    return { charges: 0, rowsLeft, done: false };
  }
  return {
    // What is too much for a refresh is left to the next run. To throw the build away could go on for ever.
    charges: refreshed.charges,
    rowsLeft: 0,
    done: await makeCurrent(database, provider),
  };
}

async function computeStep(reader: Knex.Transaction, build: Rollup, rows: number) {
  const { nextFrom, watermark } = build;
  const stored = await readBoundaries(reader, build, nextFrom);
  const { compared, next } = await nextSlice(reader, build, stored, nextFrom, rows);
  // Its slice bounds what it writes, so it has no other limit.
  const change = await computeChange(reader, build, stored, compared, watermark, Infinity);
  return { change: change as Change, next };
}

/** The number of charges, starts and ends of rentals that a change adds. */
function rowsOf({ owners }: Change): number {
  const counts = owners.flatMap((difference) => COUNT_NAMES.map((name) => difference[name]));
  return Number(counts.reduce((sum, count) => sum + count, 0n));
}

/** Makes a complete build the current rollup. Resolves to false if another run began it anew. */
function makeCurrent(database: Knex, provider: string): Promise<boolean> {
  return inShortTransaction(database, async (transaction) => {
    const { current, build } = await readRollups(transaction, provider, true);
    if (build === undefined || stateOf(build) !== "complete") return false;
    if (current) await rowOf(transaction, current).del();
    await rowOf(transaction, build).update({
      ...movedTo(build, "current"),
      version: newVersion(),
      // At some time of the first day, so that rollups built together are not all due at once.
      check_at: transaction.raw("UTC_TIMESTAMP(3) + INTERVAL ? SECOND", [
        Math.round(Math.random() * FIRST_CHECK),
      ]),
    });
    return true;
  });
}
