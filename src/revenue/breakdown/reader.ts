/**
 * Reads the rows and the sums of a breakdown. The sums at boundaries are cached: while the rollup keeps
 * its version, a further period with the same boundaries reads only what they do not hold.
 */

import { FIRST_INSTANT, fromDatetime, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { findDamage, type ReadLedger } from "../../rollup/read/damage.ts";
import { BEFORE_ALL, usedRollup } from "../../rollup/read/sql.ts";
import { sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, type Sums } from "../../rollup/sums.ts";
import {
  DEFAULT_LENGTH,
  includingEarlier,
  periodParameters,
  type RequestedPeriod,
} from "../period.ts";
import { boundariesOf, countUncovered } from "../raw-charges.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { type ByOwner, PeriodTotals, sumsByOwner } from "./totals.ts";

/**
 * The maximum size of the cache, in rows of about 125 bytes: 100 MB. Sums take some 7 for each server and
 * one for each instance: ten thousand small providers fit in.
 */
const MAX_CACHED_ROWS = 800_000;

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

/** The sums at a boundary. Instants are DATETIME(3) text here. */
interface Boundary {
  /** The first instant after the watermark stands for everything covered. */
  readonly at: string;
  /** The boundary before it, "" if it is the first; undefined if that is not known. */
  readonly previous?: string | undefined;
  /** The boundary after it; undefined if that is not known. */
  readonly next?: string | undefined;
  readonly sums: ByOwner<Sums>;
}

/** Reads the breakdown of a caller for a period. Rejects with a `ServiceError`, as `Read` does. */
type ReadBreakdown = (period: RequestedPeriod, context: Context) => Promise<Breakdown>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(
  read: Read,
  readLedger: ReadLedger,
  observeCache: (hit: boolean) => void = () => {},
): ReadBreakdown {
  const cache = createSumsCache<Boundary>(({ sums }) => sums.size, MAX_CACHED_ROWS, merge);

  return async (period, { caller: { providerId: provider }, now: estimate, signal }) => {
    const options = { owner: provider, signal };
    const values = { provider, ...periodParameters(period) };

    const cached = cache.get(provider);
    const found = cached && findSums(cached.sums, cached.rollup, endsOf(period, estimate));
    observeCache(found !== undefined);
    if (cached && found) {
      const { rollup } = cached;
      const { first, last } = found;
      const { watermark } = rollup;
      const completing = { ...values, watermark, first: first.at, last: last.at };
      const { rows, asOf } = await uncoveredBreakdown.run(read, completing, options);
      const [state] = rows.state as [State];
      // The period may begin later than by this host's clock.
      const { start } = endsOf(period, fromDatetime(state.now));
      const isInPeriod = first.at >= start || first.at === last.at;
      if (usedRollup(state).version === rollup.version && isInPeriod) {
        cache.put(provider, rollup, last, first);
        return breakdown(rows, first, last, rollup, asOf);
      }
    }
    const { rows, asOf } = await fullBreakdown.run(read, values, options);
    const [state] = rows.state as [State];
    const rollup = usedRollup(state);
    const [first, last] = readBoundaries(rows, period);
    const damage = damageOf(rows, first, last);
    if (damage !== undefined) {
      return readLedger(provider, damage, async () => {
        const { at } = NOTHING;
        const completing = { ...values, watermark: FIRST_INSTANT, first: at, last: at };
        const { rows, asOf } = await uncoveredBreakdown.run(read, completing, options);
        return breakdown(rows, NOTHING, NOTHING, rollup, asOf);
      });
    }
    cache.put(provider, rollup, last, first);
    return breakdown(rows, first, last, rollup, asOf);
  };
}

/** Where the sums that a full query has read differ from those of the provider as a whole. */
function damageOf({ totalAtFirst, totalAtLast }: FullRows, first: Boundary, last: Boundary) {
  const compare = ({ at, sums }: Boundary, [total]: FullRows["totalAtFirst"]) => {
    return { at, owners: sums.total(), total: total === undefined ? NO_SUMS : sumsOf(total) };
  };
  const atLast = compare(last, totalAtLast);
  return findDamage(first.at === last.at ? [atLast] : [compare(first, totalAtFirst), atLast]);
}

/** What two sums at one boundary know together; undefined if they are at two. */
function merge(newer: Boundary, older: Boundary): Boundary | undefined {
  if (newer.at !== older.at) return undefined;
  return {
    ...newer,
    previous: newer.previous ?? older.previous,
    next: newer.next ?? older.next,
  };
}

type State = Rows["state"][number];

/** The start of a period, and the first instant after its end, at `now` (epoch ms). */
function endsOf({ start, end }: RequestedPeriod, now: number) {
  return {
    start: includingEarlier(toDatetime(start ?? now - DEFAULT_LENGTH)),
    after: toDatetime(Math.min(end ?? now, now) + 1),
  };
}

type Ends = ReturnType<typeof endsOf>;

/** The cached sums at the boundaries of a period; undefined if they are missing. */
function findSums(
  cached: readonly Boundary[],
  { watermark }: UsedRollup,
  { start, after }: Ends,
): { readonly first: Boundary; readonly last: Boundary } | undefined {
  const covered = toDatetime(fromDatetime(watermark) + 1);
  const last =
    after >= covered
      ? cached.find(({ at }) => at === covered)
      : cached.find(({ at, next = at }) => at <= after && after < next);
  if (last === undefined) return undefined;
  if (start >= last.at) return { first: last, last };
  const first = cached.find(({ at, previous = at }) => previous < start && start <= at);
  return first && { first: first.at < last.at ? first : last, last };
}

/** The sums that a full query has read, at the first and the last boundary. */
export function readBoundaries(
  rows: FullRows,
  { end }: RequestedPeriod,
): [first: Boundary, last: Boundary] {
  const [{ now, ...state }] = rows.state as [State];
  const at = ([row]: FullRows["next"]) => row?.at ?? "";
  const stored = { first: at(rows.firstStored), last: at(rows.lastStored) };
  const [previous, next] = [at(rows.previous), at(rows.next)];
  const { watermark } = usedRollup(state);
  const { first, last } = boundariesOf(watermark, { end, now: fromDatetime(now) }, stored);
  const atLast = { at: last, next: next || LAST_INSTANT, sums: sumsByOwner(rows.sumsAtLast) };
  const atFirst = first === last ? atLast : { at: first, sums: sumsByOwner(rows.sumsAtFirst) };
  // If no boundary lies in the period, the one before its start is the last.
  return [previous < first ? { ...atFirst, previous } : atFirst, atLast];
}

/** Before everything. */
const NOTHING: Boundary = { at: BEFORE_ALL, sums: sumsByOwner([]) };

function breakdown(
  rows: Rows,
  first: Boundary,
  last: Boundary,
  rollup: UsedRollup,
  asOf: number,
): Breakdown {
  const { head, tail, uncovered } = rows;
  const { startsAtHead, endsAtHead, startsAtTail, endsAtTail } = rows;
  const { writtenRentals, endingRentals, openBefore, openSince, openAfter } = rows;
  const [{ now, start, from, until }] = rows.state as [State];
  const period = { from: BigInt(from), until: BigInt(until) };
  const totals = new PeriodTotals(first.sums, last.sums, period, {
    head: [...startsAtHead, ...endsAtHead],
    isInside: first.at > start,
    // The charges before the first boundary: they are in neither of the sums.
    toEnd: [...head, ...tail, ...uncovered, ...startsAtTail, ...endsAtTail],
    rentals: [...writtenRentals, ...endingRentals],
    openBefore,
    openSince,
    openAfter,
  });
  return {
    rows,
    totals,
    rollup,
    uncoveredCharges: countUncovered(rows, last.at, rollup.watermark),
    now: fromDatetime(now),
    asOf,
  };
}
