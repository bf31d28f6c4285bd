/**
 * Reads the rows and the sums of a breakdown. The sums at boundaries are cached: while the rollup keeps
 * its version, a further period with the same boundaries reads only what they do not hold.
 */

import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { boundariesIn, DAY_LEAF, LAST_INSTANT, type LeafLength } from "../../rollup/leaves.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import {
  DEFAULT_LENGTH,
  includingEarlier,
  periodParameters,
  type RequestedPeriod,
} from "../period.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { amountsOf, PeriodTotals, TotalsByOwner } from "./totals.ts";

/**
 * The maximum size of the cache, in rows of about 80 bytes. Sums take some 7 for each server and
 * one for each instance: ten thousand small providers fit in.
 */
const MAX_ROWS = 800_000;

type FullRows = Awaited<ReturnType<typeof fullBreakdown.run>>["rows"];
type Rows = Awaited<ReturnType<typeof uncoveredBreakdown.run>>["rows"];

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Pick<Rows, "servers" | "instances">;
  readonly totals: PeriodTotals;
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges of the period that it does not cover. */
  readonly uncoveredCharges: number;
  /** The instant that all figures relate to, by the database's clock, in epoch ms. */
  readonly now: number;
  /** The instant of the snapshot: see `Answer`. */
  readonly asOf: number;
}

/** The sums at a boundary. */
interface Sums {
  /** As DATETIME(3) text. The first instant after the watermark stands for everything covered. */
  readonly at: string;
  readonly byOwner: TotalsByOwner;
}

/** Reads the breakdown of a caller for a period. Rejects with a `ServiceError`, as `Read` does. */
type ReadBreakdown = (period: RequestedPeriod, context: Context) => Promise<Breakdown>;

/**
 * How often a breakdown is read at most. The first time may use cached sums of an earlier version, or
 * expect leaves of another length, and a rollup can be built again in between.
 */
const MAX_ATTEMPTS = 5;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(
  read: Read,
  observeCache: (hit: boolean) => void = () => {},
): ReadBreakdown {
  const cache = createSumsCache<Sums>(
    ({ byOwner }) => byOwner.size,
    MAX_ROWS,
    ({ at }) => at,
  );
  /** The leaf of the rollup that was read last: what one that is not known is expected to have. */
  let latestLeaf: LeafLength = DAY_LEAF;

  return async (period, { caller: { providerId: provider }, now: estimate, signal }) => {
    const options = { owner: provider, signal };
    const values = { provider, ...periodParameters(period) };

    const cached = cache.get(provider);
    const found = cached && findSums(cached.sums, cached.rollup, period, estimate);
    observeCache(found !== undefined);
    let now = estimate;
    let leaf = cached?.rollup.leaf ?? latestLeaf;
    if (cached && found) {
      const { rollup } = cached;
      const { first, last } = found;
      const completing = { ...values, ...rollup, first: first.at, last: last.at };
      const { rows, asOf } = await uncoveredBreakdown.run(read, completing, options);
      const [state] = rows.state as [State];
      const current = usedRollup(state);
      if (current.version === rollup.version && state.fits === "1") {
        cache.put(provider, rollup, last, first);
        return breakdown(rows, first.byOwner, last.byOwner, rollup, asOf);
      }
      [now, leaf] = [fromDatetime(state.now), current.leaf ?? leaf];
    }
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const [firstAt, lastAt] = boundariesOf(period, leaf, now);
      const all = { ...values, leaf, first: firstAt, last: lastAt };
      const { rows, asOf } = await fullBreakdown.run(read, all, options);
      const [state] = rows.state as [State];
      const rollup = usedRollup(state);
      if ((rollup.leaf ?? leaf) === leaf && state.fits === "1") {
        const [first, last] = sumsOf(rows, state);
        latestLeaf = leaf;
        cache.put(provider, rollup, last, first);
        return breakdown(rows, first.byOwner, last.byOwner, rollup, asOf);
      }
      [now, leaf] = [fromDatetime(state.now), rollup.leaf ?? leaf];
    }
    throw new Error(`the rollup of provider ${provider} was built again and again`);
  };
}

type State = Rows["state"][number];

/** The boundaries inside a period. `now` may be an estimate, which the statement verifies. */
function boundariesOf(period: RequestedPeriod, leaf: LeafLength, now: number) {
  const { start = now - DEFAULT_LENGTH, end = now } = period;
  const after = Math.min(end + 1, LATEST);
  const [first, last] = boundariesIn(toDatetime(start), toDatetime(after), leaf);
  return [includingEarlier(first), includingEarlier(last)] as const;
}
const LATEST = fromDatetime(LAST_INSTANT);

/** The cached sums at the boundaries inside a period; undefined if they are missing. */
function findSums(
  cached: readonly Sums[],
  { watermark, leaf }: UsedRollup,
  period: RequestedPeriod,
  now: number,
): { readonly first: Sums; readonly last: Sums } | undefined {
  const [firstAt, lastAt] = boundariesOf(period, leaf ?? DAY_LEAF, now);
  const covered = fromDatetime(watermark);
  const isToNow = (period.end ?? now) >= covered;
  const end = isToNow ? toDatetime(covered + 1) : lastAt;
  const last = cached.find(({ at }) => at === end);
  const first = firstAt < end ? cached.find(({ at }) => at === firstAt) : last;
  return first && last && { first, last };
}

/** The sums that a full query has read. */
function sumsOf({ sumsAtFirst, sumsAtLast }: FullRows, { first, last }: State): [Sums, Sums] {
  const atLast = { at: last, byOwner: byOwner(sumsAtLast) };
  return first === last ? [atLast, atLast] : [{ at: first, byOwner: byOwner(sumsAtFirst) }, atLast];
}

function byOwner(rows: FullRows["sumsAtFirst"]): TotalsByOwner {
  const totals = new TotalsByOwner();
  for (const row of rows) totals.add(row, amountsOf(row));
  return totals;
}

function breakdown(
  rows: Rows,
  before: TotalsByOwner,
  upToEnd: TotalsByOwner,
  rollup: UsedRollup,
  asOf: number,
): Breakdown {
  const { state, servers, instances, ...parts } = rows;
  const totals = new PeriodTotals(before, upToEnd);
  const added = [
    parts.head,
    parts.tail,
    parts.uncovered,
    parts.endsAtHead,
    parts.startsAtTail,
    parts.writtenRentals,
    parts.endingRentals,
    parts.openRentals,
  ];
  for (const part of added) for (const row of part) totals.add(row, amountsOf(row));
  const [{ last, now }] = state as [State];
  const uncovered = last > rollup.watermark ? [...parts.uncovered, ...parts.tail] : parts.uncovered;
  return {
    rows: { servers, instances },
    totals,
    rollup,
    uncoveredCharges: uncovered.reduce((sum, { charges }) => sum + Number(charges), 0),
    now: fromDatetime(now),
    asOf,
  };
}
