/** Which rows a rollup covers, and the one function that compares leaves with the ledger. */
import {
  BOUNDARIES,
  type Has,
  QUARTER,
  type Row,
  type Sums,
  type Totals,
  type Version,
} from "./model.ts";

/** Whether a version of a row is covered at a watermark. */
export function isCovered({ start, end, recorded }: Version, watermark: number, has: Has): boolean {
  if (recorded > watermark || end === null) return false;
  return (end ?? start) <= watermark || !has("covered by date");
}

/** Where a row counts: at its start, and at its end. */
export function datesOf({ start, end }: Version): number[] {
  return typeof end === "number" ? [start, end] : [start];
}

/** The end of the leaf that an instant lies in. */
function boundaryAfter(instant: number): number {
  return BOUNDARIES.find((boundary) => boundary > instant) ?? Infinity;
}

/** *F* at the last stored boundary up to an instant. */
export function sumsAt(sums: Sums, instant: number): Totals | undefined {
  return sums.findLast(([boundary]) => boundary <= instant)?.[1];
}

/** Compares leaves with the ledger as it is covered at a watermark. */
export function compare(
  rows: readonly Row[],
  sums: Sums,
  watermark: number,
  leaves: readonly number[],
  has: Has,
): Sums {
  const differences = leaves.map((boundary): Sums[number] => {
    const stored = sums.findIndex(([at]) => at === boundary);
    const totals = rows.flatMap(() => [0, 0]);
    for (const [index, { committed }] of rows.entries()) {
      if (!committed || !isCovered(committed, watermark, has)) continue;
      for (const [which, date] of datesOf(committed).entries()) {
        if (boundaryAfter(date) === boundary) totals[2 * index + which] = 1;
      }
    }
    if (stored < 0) return [boundary, totals];
    return [boundary, plus(totals, sums[stored]?.[1], sums[stored - 1]?.[1], -1)];
  });
  return differences.filter(([, totals]) => totals.some((count) => count !== 0));
}

/** `totals + sign * (added - subtracted)`. */
function plus(totals: Totals, added: Totals = [], subtracted: Totals = [], sign = 1): Totals {
  const places = totals.length > 0 ? totals : added.map(() => 0);
  return places.map((count, at) => count + sign * ((added[at] ?? 0) - (subtracted[at] ?? 0)));
}

/** Adds each difference to the boundary of its leaf and to all later ones. */
export function addDifferences(sums: Sums, differences: Sums): void {
  for (const [boundary, difference] of differences) {
    if (!sums.some(([at]) => at === boundary)) {
      sums.push([boundary, sumsAt(sums, boundary) ?? difference.map(() => 0)]);
      sums.sort(([left], [right]) => left - right);
    }
    for (const stored of sums) {
      if (stored[0] >= boundary) stored[1] = plus(stored[1], difference);
    }
  }
}

/** Compares the quarter hours of leaves with the ledger. */
export function compareQuarters(
  rows: readonly Row[],
  quarters: Sums,
  watermark: number,
  leaves: readonly number[],
  has: Has,
): Sums {
  const starts = leaves.flatMap((to) => [to - 2 * QUARTER, to - QUARTER]);
  const differences = starts.map((start): Sums[number] => {
    const totals = rows.flatMap(({ committed }) => {
      const isCharge =
        committed?.end === undefined && committed && isCovered(committed, watermark, has);
      return [isCharge && committed.start - (committed.start % QUARTER) === start ? 1 : 0, 0];
    });
    return [start, plus(totals, quarters.find(([at]) => at === start)?.[1], [], -1)];
  });
  return differences.filter(([, totals]) => totals.some((count) => count !== 0));
}

/** Adds to the sums of a quarter hour. */
export function addTo(quarters: Sums, [start, totals]: Sums[number]): void {
  const found = quarters.find(([at]) => at === start);
  if (found) found[1] = plus(totals, found[1]);
  else quarters.push([start, totals]);
}

/** How often quarter hours have each charge from one instant on and before another. */
export function countIn(quarters: Sums, from: number, to: number, row: number): number {
  const inside = quarters.filter(([start]) => start >= from && start < to);
  return inside.reduce((count, [, totals]) => count + (totals[2 * row] ?? 0), 0);
}

/** The leaves that a refresh compares; none without news. */
export function leavesWithNews(
  rows: readonly Row[],
  watermark: number,
  until: number,
  has: Has,
): number[] {
  const versions = rows.flatMap(({ committed }) => committed ?? []);
  const covered = versions.filter((version) => isCovered(version, until, has));
  const news = covered.filter((version) => {
    const isNew = version.recorded > watermark || has("news by date");
    return isNew && !isCovered(version, watermark, has);
  });
  const leaves = new Set(news.flatMap(datesOf).map(boundaryAfter));
  return BOUNDARIES.filter((boundary) => leaves.has(boundary));
}
