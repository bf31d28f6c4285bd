/**
 * Reads the rows and the totals of a breakdown. The prefix sums at the edges of periods are cached:
 * for another period with the same edge, or a slightly later one, only the charges since and the rows
 * that the rollup does not cover are read.
 */
import { toDatetime } from "../../db/datetime.ts";
import type { Freshness } from "../../db/freshness.ts";
import type { Read } from "../../db/query.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import { NO_CACHED_TOTALS, stateText, usedRollup } from "../../rollup/read/sql.ts";
import { isStable } from "../../rollup/stability.ts";
import { END } from "../../rollup/timeline.ts";
import type { Context } from "../context.ts";
import {
  type Edge,
  type Edges,
  edgeFrom,
  edgeValues,
  type Found,
  foundAt,
  isAlwaysThere,
  lastEdge,
  nearestEdge,
  type Rows,
  withoutBases,
} from "./edge.ts";
import type { Period } from "./period.ts";
import {
  amountsOf,
  isBaseFor,
  isBeforeCheckpoint,
  isFar,
  isUnchanged,
  laterPrefixSum,
  mustVerify,
  type PrefixSum,
  prefixSum,
  sumOf,
} from "./prefix-sum.ts";
import { breakdownCheckpoints, fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { PeriodTotals } from "./totals.ts";

/** The maximum number of rows in the cache: a period takes two for each server and instance. */
const MAX_ROWS = 400_000;

/** What a breakdown is made of. */
export interface Breakdown {
  readonly rows: Pick<Rows, "servers" | "instances">;
  readonly totals: PeriodTotals;
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges of the period that it does not cover. */
  readonly uncoveredCharges: number;
  /** The instant of the snapshot: see `Answer`. */
  readonly asOf: number;
}

/**
 * Why a statement gave no breakdown: a cached prefix sum has changed, or the rollup has another
 * generation or lacks a checkpoint.
 */
type Failure = "refreshed" | "rebuilt";

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
  const cache = createTotalsCache<PrefixSum>(({ byOwner }) => byOwner.size, MAX_ROWS);
  const optionsOf = ({ caller, signal, deadline }: Context) => {
    return { owner: caller.providerId, signal, deadline, freshness };
  };

  /** The edges of a period, with their bases in the cache; without one if there is none. */
  function cachedEdges({ start, end }: Period, provider: string): Edges<Edge | undefined> {
    const edgeAt = (instant: number) => {
      const at = toDatetime(instant);
      const isBase = (sum: PrefixSum) => isBaseFor(sum, at);
      const base = cache.get(provider, isBase, (sum) => sum.at);
      return base && edgeFrom(base, at);
    };
    return { start: edgeAt(start - 1), end: edgeAt(end) };
  }

  /** The edges of a period at the checkpoints nearest to them. */
  async function nearestEdges(period: Period, context: Context): Promise<Edges> {
    const provider = context.caller.providerId;
    const [before, end] = [toDatetime(period.start - 1), toDatetime(period.end)];
    const now = toDatetime(context.now);
    const values = { provider, before, end };
    const { rows } = await breakdownCheckpoints.run(read, values, optionsOf(context));
    const [around = { beforeStart: "", afterStart: END, beforeEnd: "", afterEnd: END }] =
      rows.checkpoints;
    return {
      start: nearestEdge(before, around.beforeStart, around.afterStart, now),
      end: nearestEdge(end, around.beforeEnd, around.afterEnd, now),
    };
  }

  /** Runs a statement for the edges, and caches the prefix sums there. */
  async function readBetween(edges: Edges, context: Context): Promise<Breakdown | Failure> {
    const provider = context.caller.providerId;
    const bases = [edges.start.base, edges.end.base].filter((base) => base !== undefined);
    const state = bases[0]?.state;
    const startedAt = performance.now();
    const verify = mustVerify(
      bases.map(({ totals }) => totals),
      startedAt,
    );
    const values = {
      ...{ provider, now: toDatetime(context.now), ...edgeValues(edges) },
      ...{ rollup: state ? stateText(state) : NO_CACHED_TOTALS, verify: verify ? "1" : "0" },
      watermark: state?.watermark ?? "",
    };
    const statement = bases.length === 2 ? uncoveredBreakdown : fullBreakdown;
    const { rows, asOf } = await cache.whileUsing(provider, bases, () =>
      statement.run(read, values, optionsOf(context)),
    );

    const rollup = usedRollup(rows.state);
    const stability = rows.state[0]?.stability ?? "";
    cache.moveOn(provider, rollup, ({ state, totals }) =>
      isStable(state, rollup, stability, totals.next),
    );
    const found = foundAt(rows);
    for (const at of ["start", "end"] as const) {
      const { base, checkpoint } = edges[at];
      if (!base && !found[at].hasCheckpoint && !isAlwaysThere(checkpoint)) return "rebuilt";
      if (base && base.state.generation !== rollup.generation) return "rebuilt";
      if (base && !isCurrent(base, rollup)) return "refreshed";
      if (base && verify && !isUnchanged(base.totals, found[at].verified)) {
        cache.evict(provider, base);
        return "refreshed";
      }
    }

    /** The base of an edge, or the prefix sum there. Caches what is worth it. */
    const sumAt = (edge: Edge, { charges, totals }: Found): PrefixSum => {
      const keep = (sum: PrefixSum) => {
        cache.set(provider, { state: rollup, totals: sum }, ({ at }) => at === sum.at);
        return sum;
      };
      if (!edge.base) return keep(prefixSum(edge, totals, charges, startedAt));
      const { totals: base } = edge.base;
      if (verify) base.verifiedAt = startedAt;
      if (isFar(charges)) keep(laterPrefixSum(edge.at, base, charges));
      return base;
    };
    const before = sumAt(edges.start, found.start);
    const upToEnd = sumAt(edges.end, found.end);
    const totals = new PeriodTotals(before.byOwner, upToEnd.byOwner);
    addSinceBases(totals, edges, found);
    addRentals(totals, edges, rows);
    for (const row of rows.uncoveredCharges) totals.add(row, amountsOf(row));
    const uncoveredCharges = sumOf(rows.uncoveredCharges).charges;
    return { rows, totals, rollup, uncoveredCharges, asOf };
  }

  return async (period, context) => {
    const provider = context.caller.providerId;
    const cached = cachedEdges(period, provider);
    observeCache(cached.start !== undefined && cached.end !== undefined);
    const nearest = () => nearestEdges(period, context);
    let edges = await either(cached, nearest);
    let found = await readBetween(edges, context);
    if (found === "refreshed") {
      // The checkpoints are the same, and there may be prefix sums that did not change.
      edges = await either(cachedEdges(period, provider), () => withoutBases(edges));
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) {
      edges = await nearest();
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) {
      // Rebuilt again, or nodes differ. The last checkpoint is on all of them.
      edges = { start: lastEdge(edges.start.at), end: lastEdge(edges.end.at) };
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) throw new Error(`expected totals at the last checkpoint, got ${found}`);
    return found;
  };
}

function isFailure(found: Breakdown | Failure): found is Failure {
  return typeof found === "string";
}

/** The edges with a base; where there is none, the other edge. */
async function either(
  { start, end }: Edges<Edge | undefined>,
  others: () => Promise<Edges> | Edges,
): Promise<Edges> {
  if (start && end) return { start, end };
  const other = await others();
  return { start: start ?? other.start, end: end ?? other.end };
}

/** Adds the charges between the bases and the edges. */
function addSinceBases(totals: PeriodTotals, edges: Edges, found: Edges<Found>): void {
  if (edges.start.base) {
    for (const row of found.start.charges) totals.subtract(row, amountsOf(row));
  }
  if (edges.end.base) {
    for (const row of found.end.charges) totals.add(row, amountsOf(row));
  }
}

/** Adds the rentals between the checkpoints and the edges, and those that the rollup does not cover. */
function addRentals(totals: PeriodTotals, edges: Edges, rows: Rows): void {
  const signOf = (edge: Edge) => (isBeforeCheckpoint(edge) ? -1 : 1);
  const [atStart, atEnd] = [signOf(edges.start), signOf(edges.end)];
  for (const row of rows.endsAtStart) totals.add(row, { ended: atStart * Number(row.count) });
  for (const row of rows.startsAtEnd) totals.add(row, { started: atEnd * Number(row.count) });
  for (const row of rows.writtenRentals) totals.add(row, { started: Number(row.count) });
  for (const row of rows.endingRentals) totals.add(row, { started: Number(row.count) });
  for (const row of rows.openRentals) {
    totals.add(row, { started: Number(row.count), running: Number(row.running) });
  }
  for (const row of rows.runningRentals) totals.add(row, { running: Number(row.running) });
}
