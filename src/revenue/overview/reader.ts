/**
 * Reads the rows and the sums of an overview. The sums of the rollup are cached; while it keeps
 * its version, only the other rows are read.
 */
import { FIRST_INSTANT, fromDatetime, instantOf } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { type BoundarySums, findDamage, type ReadLedger } from "../../rollup/read/damage.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { increments, sumsOf } from "../../rollup/stored-sums.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { monthOf, recentMonths, startsOfMonths } from "../calendar.ts";
import { withEstimatedNow } from "../estimated-now.ts";
import { fullOverview, monthParameters, uncoveredOverview } from "./queries.ts";

/** Sums of charges: those of the rollup in the cache, of all until now in a response. */
interface OverviewSums {
  /** By `Month.start`. */
  readonly byMonth: ReadonlyMap<number, Sums>;
  /** Lifetime sums of each server that has a charge, by `servers.id`. */
  readonly byServer: ReadonlyMap<string, Sums>;
}

/** Those of a provider without a rollup. */
const NO_OVERVIEW_SUMS: OverviewSums = { byMonth: new Map(), byServer: new Map() };

type FullRows = Awaited<ReturnType<typeof fullOverview.run>>["rows"];
type Rows = Awaited<ReturnType<typeof uncoveredOverview.run>>["rows"];

/** What an overview is made of. */
export interface Overview extends OverviewSums {
  readonly rows: Pick<Rows, "servers" | "payouts">;
  /** The wallet's balance, as decimal text; "" without a wallet. */
  readonly balance: string;
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges that it does not cover. */
  readonly uncoveredCharges: number;
  /** The instant that all figures relate to, by the database's clock, in epoch ms. */
  readonly now: number;
  /** The instant of the snapshot: see `Answer`. */
  readonly asOf: number;
}

/** The maximum number of rows in the cache, each of about 205 bytes: 40 MB. */
const MAX_CACHED_ROWS = 200_000;

/** Reads the overview of a caller. Rejects with a `ServiceError`, as `Read` does. */
type ReadOverview = (context: Context) => Promise<Overview>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createOverviewReader(
  read: Read,
  readLedger: ReadLedger,
  observeCache: (hit: boolean) => void = () => {},
): ReadOverview {
  const cache = createSumsCache<OverviewSums>(
    ({ byMonth, byServer }) => byMonth.size + byServer.size,
    MAX_CACHED_ROWS,
  );
  return async ({ caller: { providerId: provider }, now: estimate, signal }) => {
    const options = { owner: provider, signal };
    const cached = cache.get(provider);
    const [known] = cached?.sums ?? [];
    observeCache(known !== undefined);

    async function complete(sums: OverviewSums, { version, watermark }: UsedRollup) {
      const values = { provider, watermark };
      const { rows, asOf } = await uncoveredOverview.run(read, values, options);
      const state = stateOf(rows);
      const now = fromDatetime(state.now);
      const rollup = usedRollup(state);
      const fits = rollup.version === version && hasMonths(sums.byMonth, now);
      return { now, answer: fits ? overview(sums, rows, rollup, asOf) : undefined };
    }

    async function readAt(estimated: number) {
      const starts = startsOfMonths(estimated);
      const values = { provider, ...monthParameters(starts) };
      const { rows, asOf } = await fullOverview.run(read, values, options);
      const state = stateOf(rows);
      const sums = sumsFromRollup(rows, starts);
      const now = fromDatetime(state.now);
      if (!hasMonths(sums.byMonth, now)) return { now, answer: undefined };
      const rollup = usedRollup(state);
      const damage = damageOf(rows);
      if (damage !== undefined) {
        const answer = await readLedger(provider, damage, async () => {
          const values = { provider, watermark: FIRST_INSTANT };
          const { rows, asOf } = await uncoveredOverview.run(read, values, options);
          return overview(NO_OVERVIEW_SUMS, rows, rollup, asOf);
        });
        return { now, answer };
      }
      cache.put(provider, rollup, sums);
      return { now, answer: overview(sums, rows, rollup, asOf) };
    }

    if (cached === undefined || known === undefined) return withEstimatedNow(estimate, readAt);
    const { now, answer } = await complete(known, cached.rollup);
    return answer ?? withEstimatedNow(now, readAt);
  };
}

function stateOf({ state: [row] }: Rows): Rows["state"][number] {
  return row as Rows["state"][number];
}

/** Whether the months of an answer at `now` are there. */
function hasMonths(months: ReadonlyMap<number, Sums>, now: number): boolean {
  return recentMonths(now).every(({ start }) => months.has(start));
}

/** The sums of the rollup. A month is the difference of two. */
function sumsFromRollup(
  { before, sums, sumsByServer }: FullRows,
  starts: readonly number[],
): OverviewSums {
  const byMonth = new Map(starts.slice(0, -1).map((start) => [start, NO_SUMS]));
  // A boundary is the end of a month.
  for (const [at, added] of increments(before[0], sums)) {
    byMonth.set(monthOf(fromDatetime(at) - 1), added);
  }
  return {
    byMonth,
    byServer: new Map(sumsByServer.map((row) => [row.server, sumsOf(row)])),
  };
}

/**
 * Whether the charges of all servers differ from those of the provider as a whole: nothing that is covered is
 * dated after the end of the current month.
 */
function damageOf({ sumsByServer, before, sums }: FullRows): BoundarySums | undefined {
  const [latest = before[0]] = sums.toSorted((one, other) => (one.at > other.at ? -1 : 1));
  const total = latest === undefined ? NO_SUMS : sumsOf(latest);
  const owners = sumsByServer.map(sumsOf).reduce(plus, NO_SUMS);
  return findDamage([{ at: "W", owners, total }]);
}

/** Completes the sums of a rollup. */
function overview(sums: OverviewSums, rows: Rows, rollup: UsedRollup, asOf: number): Overview {
  const byMonth = new Map(sums.byMonth);
  const byServer = new Map(sums.byServer);
  let uncoveredCharges = 0;
  for (const row of [...rows.late, ...rows.recent]) {
    const sums = sumsOf(row);
    increase(byMonth, monthOf(instantOf(row.at)), sums);
    increase(byServer, row.server, sums);
    uncoveredCharges += Number(sums.charges);
  }
  const { balance } = stateOf(rows);
  return {
    rows,
    balance,
    rollup,
    uncoveredCharges,
    now: fromDatetime(stateOf(rows).now),
    asOf,
    byMonth,
    byServer,
  };
}

function increase<Key>(sums: Map<Key, Sums>, key: Key, added: Sums): void {
  sums.set(key, plus(sums.get(key) ?? NO_SUMS, added));
}
