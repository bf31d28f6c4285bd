/**
 * Reads the rows and the totals of a breakdown. The totals of the covered rows are cached per
 * period. For a slightly later period, only the rows between the edges of the two periods and the
 * uncovered rows are read.
 */
import { parseCents } from "../../db/cents.ts";
import { toDatetime } from "../../db/datetime.ts";
import type { Freshness } from "../../db/freshness.ts";
import type { Read } from "../../db/query.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import { lastInstantOf, stateText, usedRollup } from "../../rollup/read/sql.ts";
import type { Context } from "../context.ts";
import {
  areUnchanged,
  type CachedTotals,
  countOf,
  edgesOf,
  fitsPeriod,
  mustVerify,
} from "./cached-totals.ts";
import type { Period } from "./period.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { type Totals, TotalsByOwner } from "./totals.ts";

type FullRows = Awaited<ReturnType<typeof fullBreakdown.run>>["rows"];
type CompletingRows = Awaited<ReturnType<typeof uncoveredBreakdown.run>>["rows"];
/** The rows that both statements read. */
type UncoveredRows = Pick<FullRows, keyof FullRows & keyof CompletingRows>;

type ChargesRow = Pick<FullRows["uncoveredCharges"][number], "gross" | "charges">;

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Pick<UncoveredRows, "servers" | "instances">;
  readonly totals: TotalsByOwner;
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges of the period that it does not cover. */
  readonly uncoveredCharges: number;
  /** The instant of the snapshot: see `Answer`. */
  readonly asOf: number;
}

/** Reads the breakdown of a caller for a period. Rejects with a `ServiceError`, as `Read` does. */
type ReadBreakdown = (period: Period, context: Context) => Promise<Breakdown>;

/**
 * Creates a reader with an empty cache. `freshness` limits the age of breakdowns; `observeCache` is
 * called with each lookup in the cache.
 */
export function createBreakdownReader(
  read: Read,
  freshness?: Freshness,
  observeCache: (hit: boolean) => void = () => {},
): ReadBreakdown {
  const cache = createTotalsCache<CachedTotals>(({ byOwner }) => byOwner.size);
  return async (period, { caller: { providerId: provider }, now, signal, deadline }) => {
    const [start, end] = [toDatetime(period.start), toDatetime(period.end)];
    const values = { provider, start, end, now: toDatetime(now) };
    const options = { owner: provider, signal, deadline, freshness };
    const fits = (totals: CachedTotals) => fitsPeriod(totals, start, end);

    const cached = cache.get(provider, fits);
    observeCache(cached !== undefined);
    if (cached) {
      const { state, totals } = cached;
      const startedAt = performance.now();
      const verify = mustVerify(totals, startedAt);
      const completing = {
        ...values,
        rollup: stateText(state),
        verify: verify ? "1" : "0",
        watermark: state.watermark,
        first: totals.beforeStart,
        last: lastInstantOf(totals.afterEnd),
        cachedStart: totals.start,
        cachedEnd: totals.end,
      };
      const { rows, asOf } = await cache.whileUsing(provider, cached, () =>
        uncoveredBreakdown.run(read, completing, options),
      );
      const rollup = usedRollup(rows.state);
      if (isCurrent(cached, rollup) && (!verify || areUnchanged(totals, rows.state))) {
        if (verify) totals.verifiedAt = startedAt;
        const byOwner = totals.byOwner.copy();
        for (const row of rows.chargesAtStart) byOwner.subtract(row, charges(row));
        for (const row of rows.chargesAtEnd) byOwner.add(row, charges(row));
        return { ...breakdown(byOwner, rows, rollup), asOf };
      }
      cache.evict(provider, cached);
    }

    const verifiedAt = performance.now();
    const { rows, asOf } = await fullBreakdown.run(read, values, options);
    const rollup = usedRollup(rows.state);
    const byOwner = coveredTotals(rows);
    const [checkpoints] = rows.checkpoints;
    if (checkpoints) {
      const edges = edgesOf(rows.chargesAtStart, rows.chargesAtEnd);
      const totals = { start, end, ...checkpoints, edges, verifiedAt, byOwner };
      cache.set(provider, { state: rollup, totals }, fits);
    }
    return { ...breakdown(byOwner.copy(), rows, rollup), asOf };
  };
}

/** The totals between the checkpoints, without the charges between these and the edges. */
function coveredTotals(rows: FullRows): TotalsByOwner {
  const totals = new TotalsByOwner();
  for (const row of rows.totalsAfterEnd) totals.add(row, chargesAndRentals(row));
  for (const row of rows.totalsBeforeStart) totals.subtract(row, chargesAndRentals(row));
  for (const row of rows.chargesAtStart) totals.subtract(row, charges(row));
  for (const row of rows.chargesAtEnd) totals.subtract(row, charges(row));
  return totals;
}

/** Completes totals that have the covered charges of the period. Changes them. */
function breakdown(totals: TotalsByOwner, rows: UncoveredRows, rollup: UsedRollup) {
  for (const row of rows.endsBeforeStart) totals.subtract(row, rentals(row));
  for (const row of rows.startsAfterEnd) totals.subtract(row, rentals(row));
  addUncovered(totals, rows);
  return { rows, totals, rollup, uncoveredCharges: countOf(rows.uncoveredCharges) };
}

function addUncovered(totals: TotalsByOwner, rows: UncoveredRows): void {
  for (const row of rows.uncoveredCharges) totals.add(row, charges(row));
  for (const row of rows.writtenRentals) totals.add(row, rentals(row));
  for (const row of rows.endingRentals) totals.add(row, rentals(row));
  for (const row of rows.openRentals) {
    totals.add(row, { rentals: Number(row.count), running: Number(row.running) });
  }
  for (const row of rows.runningRentals) totals.add(row, running(row));
}

function charges(row: ChargesRow): Pick<Totals, "gross" | "charges"> {
  return { gross: parseCents(row.gross), charges: Number(row.charges) };
}

function chargesAndRentals(row: ChargesRow & { readonly count: string }) {
  const { gross, charges, count } = row;
  return { gross: parseCents(gross), charges: Number(charges), rentals: Number(count) };
}

function rentals(row: { count: string }): Pick<Totals, "rentals"> {
  return { rentals: Number(row.count) };
}

function running(row: { running: string }): Pick<Totals, "running"> {
  return { running: Number(row.running) };
}
