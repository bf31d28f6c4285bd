/**
 * Reads the rows and the totals of a breakdown. The totals of the covered rows are cached per
 * period. For a slightly later period, only the rows between the edges of the two periods and the
 * uncovered rows are read.
 */
import { parseCents } from "../../db/cents.ts";
import { toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import { END } from "../../rollup/timeline.ts";
import type { Context } from "../context.ts";
import type { Period } from "./period.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { type Totals, TotalsByOwner } from "./totals.ts";

/**
 * Totals of the covered rows of a period. They are the base for a later period if neither edge
 * has passed a checkpoint. All instants are DATETIME(3) text.
 */
interface CachedTotals {
  readonly start: string;
  readonly end: string;
  /** The first checkpoint after the start. */
  readonly afterStart: string;
  /** The first checkpoint after the end. */
  readonly afterEnd: string;
  readonly byOwner: TotalsByOwner;
}

type FullRows = Awaited<ReturnType<typeof fullBreakdown.run>>;
type UncoveredRows = Awaited<ReturnType<typeof uncoveredBreakdown.run>>;

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Pick<UncoveredRows, "state" | "servers" | "instances">;
  readonly totals: TotalsByOwner;
}

/** Reads the breakdown of a caller for a period. Rejects with a `ServiceError`, as `Read` does. */
type ReadBreakdown = (period: Period, context: Context) => Promise<Breakdown>;

/** Creates a reader with an empty cache. */
export function createBreakdownReader(read: Read): ReadBreakdown {
  const cache = createTotalsCache<CachedTotals>(({ byOwner }) => byOwner.size);
  return async (period, { caller: { providerId: provider }, now, signal, deadline }) => {
    const [start, end] = [toDatetime(period.start), toDatetime(period.end)];
    const values = { provider, start, end, now: toDatetime(now) };
    const options = { owner: provider, signal, deadline };
    const fits = (entry: CachedTotals) =>
      isWithin(start, entry.start, entry.afterStart) && isWithin(end, entry.end, entry.afterEnd);

    const cached = cache.get(provider, fits);
    if (cached) {
      const { state, totals: entry } = cached;
      const edges = { cachedStart: entry.start, cachedEnd: entry.end };
      const completing = { ...values, ...edges, watermark: state.watermark };
      const rows = await uncoveredBreakdown.run(read, completing, options);
      if (isCurrent(cached, rows.state)) {
        const totals = entry.byOwner.copy();
        addEdges(totals, rows);
        addUncovered(totals, rows);
        return { rows, totals };
      }
    }

    const rows = await fullBreakdown.run(read, values, options);
    const covered = coveredTotals(rows);
    const [[state], [checkpoints]] = [rows.state, rows.checkpoints];
    if (state && checkpoints) {
      const entry = { start, end, ...checkpoints, byOwner: covered };
      cache.set(provider, { state, totals: entry }, fits);
    }
    const totals = covered.copy();
    addUncovered(totals, rows);
    return { rows, totals };
  };
}

/** Whether `instant` is in [from, checkpoint). The last checkpoint, END, has no instant after it. */
function isWithin(instant: string, from: string, checkpoint: string): boolean {
  return from <= instant && (instant < checkpoint || checkpoint === END);
}

function coveredTotals(rows: FullRows): TotalsByOwner {
  const totals = new TotalsByOwner();
  for (const row of rows.totalsAtEnd) totals.add(row, { ...charges(row), ...rentals(row) });
  for (const row of rows.totalsAtStart) totals.subtract(row, { ...charges(row), ...rentals(row) });
  addEdges(totals, rows);
  return totals;
}

/** Moves the totals from checkpoints, or from the edges of a cached period, to the edges. */
function addEdges(totals: TotalsByOwner, rows: UncoveredRows): void {
  for (const row of rows.chargesUpToEnd) totals.add(row, charges(row));
  for (const row of rows.startsUpToEnd) totals.add(row, rentals(row));
  for (const row of rows.chargesUpToStart) totals.subtract(row, charges(row));
  for (const row of rows.endsUpToStart) totals.subtract(row, rentals(row));
}

function addUncovered(totals: TotalsByOwner, rows: UncoveredRows): void {
  for (const row of rows.uncoveredCharges) totals.add(row, charges(row));
  for (const row of rows.writtenRentals) totals.add(row, rentals(row));
  for (const row of rows.endingRentals) totals.add(row, rentals(row));
  for (const row of rows.openRentals) totals.add(row, { ...rentals(row), ...running(row) });
  for (const row of rows.runningRentals) totals.add(row, running(row));
}

function charges(row: { gross: string; charges: string }): Pick<Totals, "gross" | "charges"> {
  return { gross: parseCents(row.gross), charges: Number(row.charges) };
}

function rentals(row: { count: string }): Pick<Totals, "rentals"> {
  return { rentals: Number(row.count) };
}

function running(row: { running: string }): Pick<Totals, "running"> {
  return { running: Number(row.running) };
}
