/**
 * Reads the rows and the totals of a breakdown. The prefix sums at the edges of periods are cached:
 * for another period with the same edge, or a later one before the next checkpoint, only the charges
 * since and the rows that the rollup does not cover are read.
 */
import { toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import { NO_CACHED_TOTALS, stateText, usedRollup } from "../../rollup/read/sql.ts";
import { isStable } from "../../rollup/stability.ts";
import { END } from "../../rollup/timeline.ts";
import { createCheckpoints } from "./checkpoints.ts";
import {
  type Edge,
  type Edges,
  edgeFrom,
  edgeValues,
  type Found,
  foundAt,
  isAround,
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
  isUnchanged,
  isWorthCaching,
  laterPrefixSum,
  mustVerify,
  type PrefixSum,
  prefixSum,
  sumOf,
} from "./prefix-sum.ts";
import { fullBreakdown, uncoveredBreakdown } from "./queries.ts";
import { PeriodTotals } from "./totals.ts";

/**
 * The maximum size of the cache, in rows of about 80 bytes. A period takes some 14 for each server and
 * 2 for each instance: ten thousand small providers fit in.
 */
const MAX_ROWS = 800_000;

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
 * Why a statement gave no breakdown: a cached prefix sum has changed, or the checkpoints have, because
 * the rollup was built again or a segment split.
 */
type Failure = "refreshed" | "moved";

/** Reads the breakdown of a caller for a period. Rejects with a `ServiceError`, as `Read` does. */
type ReadBreakdown = (period: Period, context: Context) => Promise<Breakdown>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createBreakdownReader(
  read: Read,
  observeCache: (hit: boolean) => void = () => {},
): ReadBreakdown {
  const cache = createTotalsCache<PrefixSum>(({ byOwner }) => byOwner.size, MAX_ROWS);
  const checkpoints = createCheckpoints(read);
  const optionsOf = ({ caller, signal }: Context) => ({ owner: caller.providerId, signal });

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
    const { providerId } = context.caller;
    const [start, end] = [toDatetime(period.start - 1), toDatetime(period.end)];
    const around = await checkpoints.around(providerId, { start, end }, optionsOf(context));
    const now = toDatetime(context.now);
    return {
      start: nearestEdge(start, around.start.before, around.start.after, now),
      end: nearestEdge(end, around.end.before, around.end.after, now),
    };
  }

  /** Runs a statement for the edges, and caches the prefix sums there. */
  async function readBetween(edges: Edges, context: Context): Promise<Breakdown | Failure> {
    const provider = context.caller.providerId;
    const bases = [edges.start.base, edges.end.base].filter((base) => base !== undefined);
    const state = bases[0]?.state; // all entries of a provider have the same
    const startedAt = performance.now();
    const verify = mustVerify(
      bases.map(({ totals }) => totals),
      startedAt,
    );
    const values = {
      provider,
      now: toDatetime(context.now),
      ...edgeValues(edges),
      rollup: state ? stateText(state) : NO_CACHED_TOTALS,
      verify: verify ? "1" : "0",
      watermark: state?.watermark ?? "",
    };
    const statement = bases.length === 2 ? uncoveredBreakdown : fullBreakdown;
    const { rows, asOf } = await statement.run(read, values, optionsOf(context));

    const rollup = usedRollup(rows.state);
    const stability = rows.state[0]?.stability ?? "";
    cache.revalidate(provider, rollup, ({ state, totals }) =>
      isStable(state, rollup, stability, totals.next),
    );
    const found = foundAt(rows);
    for (const at of ["start", "end"] as const) {
      const failure = failureAt(edges[at], found[at], rollup);
      if (failure) return failure;
      const { base } = edges[at];
      if (base && verify && !isUnchanged(base.totals, found[at].verified)) {
        cache.evict(provider, base);
        return "refreshed";
      }
    }

    /** The base of an edge, or the prefix sum there. Caches what is worth it. */
    const sumAt = (edge: Edge, here: Found): PrefixSum => {
      const cacheSum = (sum: PrefixSum) =>
        cache.set(provider, { state: rollup, totals: sum }, ({ at }) => at === sum.at);
      if (!edge.base) {
        const sum = prefixSum(edge, here.after, here.totals, here.charges, startedAt);
        if (isAround(edge.checkpoint, here)) cacheSum(sum);
        else checkpoints.forget(provider);
        return sum;
      }
      const { totals: base } = edge.base;
      if (verify) base.verifiedAt = startedAt;
      if (isWorthCaching(here.charges)) cacheSum(laterPrefixSum(edge.at, base, here.charges));
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
    let edges = await fillMissing(cached, nearest);
    let found = await readBetween(edges, context);
    if (found === "refreshed") {
      // A refresh removes no checkpoint, and leaves most prefix sums as they are.
      edges = await fillMissing(cachedEdges(period, provider), () => withoutBases(edges));
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) {
      checkpoints.forget(provider);
      edges = await nearest();
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) {
      // Moved again, or nodes differ. All rollups have the last checkpoint.
      edges = { start: lastEdge(edges.start.at), end: lastEdge(edges.end.at) };
      found = await readBetween(edges, context);
    }
    if (isFailure(found)) throw new Error(`expected totals at the last checkpoint, got ${found}`);
    return found;
  };
}

/** Why what was found at an edge cannot be used; undefined if it can. */
function failureAt(
  { base, checkpoint }: Edge,
  found: Found,
  rollup: UsedRollup,
): Failure | undefined {
  if (!base) return isAround(checkpoint, found) || checkpoint === END ? undefined : "moved";
  if (base.state.generation !== rollup.generation) return "moved";
  return isCurrent(base, rollup) ? undefined : "refreshed";
}

function isFailure(found: Breakdown | Failure): found is Failure {
  return typeof found === "string";
}

/** The edges with a base; where there is none, the other edge. */
async function fillMissing(
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
