/** Which rows a rollup covers, and the one function that compares leaves with the ledger. */
import {
  BOUNDARIES,
  type Has,
  LOOKBACK,
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
  return totals.map((count, at) => count + sign * ((added[at] ?? 0) - (subtracted[at] ?? 0)));
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
  const late = covered.filter(({ recorded }) => {
    return recorded > watermark - LOOKBACK && recorded <= watermark && has("lookback");
  });
  if (news.length === 0) return [];
  const latest = Math.max(...late.flatMap(datesOf).map(boundaryAfter));
  const leaves = new Set([...news.flatMap(datesOf).map(boundaryAfter), latest]);
  return BOUNDARIES.filter((boundary) => leaves.has(boundary));
}
