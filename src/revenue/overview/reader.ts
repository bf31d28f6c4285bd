/**
 * Reads the rows and the gross totals of an overview. The totals of the rollup are cached; while
 * they are valid, only the other rows are read.
 */
import { type Cents, parseCents } from "../../db/cents.ts";
import { toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Until } from "../../db/scheduling/batching.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import { stateText, usedRollup } from "../../rollup/read/sql.ts";
import type { Month } from "../calendar.ts";
import { type Completing, createOverviewBatches, type UncoveredResult } from "./batch.ts";
import { fullOverview, uncoveredOverview } from "./queries.ts";

/** Gross amounts: those of the rollup in the cache, of all charges in a response. */
interface OverviewTotals {
  /** Gross per month, by `Month.key`. The current month of a response counts charges until now. */
  readonly grossByMonth: ReadonlyMap<string, Cents>;
  /** Lifetime gross per server that has a charge, by `servers.id`. */
  readonly grossByServer: ReadonlyMap<string, Cents>;
}

/** Totals in the cache. */
interface CachedTotals extends OverviewTotals {
  /** The `Month.key` of the month in which they were read. They are valid in this month. */
  readonly month: string;
}

type FullRows = Awaited<ReturnType<typeof fullOverview.run>>["rows"];

/** What an overview is made of. */
export interface Overview extends OverviewTotals {
  readonly rows: Pick<UncoveredResult["rows"], "balance" | "servers" | "payouts">;
  /** The rollup that was used. */
  readonly rollup: UsedRollup;
  /** The number of charges that it does not cover. */
  readonly uncoveredCharges: number;
  /** The instant of the snapshot: see `Answer`. */
  readonly asOf: number;
}

/**
 * What an overview that shares a statement may have: servers, and groups of uncovered charges; and
 * charges that the database adds up for it. Larger ones gain nothing, and would delay the others.
 * The rows of eight small ones are still no large result (src/rpc/large-results.ts).
 */
const MAX_SHARED_ROWS = 18;
const MAX_SHARED_CHARGES = 100;

/** Reads the overview of a caller for `months`, most recent first. Rejects with a `ServiceError`. */
type ReadOverview = (months: readonly Month[], context: Context) => Promise<Overview>;

/** What an overview reader may be given. */
export interface OverviewOptions {
  /** Called with each lookup in the cache. */
  readonly observeCache?: ((hit: boolean) => void) | undefined;
}

/** Creates a reader with an empty cache. */
export function createOverviewReader(
  read: Read,
  { observeCache = () => {} }: OverviewOptions = {},
): ReadOverview {
  const cache = createTotalsCache<CachedTotals>(
    ({ grossByMonth, grossByServer }) => grossByMonth.size + grossByServer.size,
  );
  const readInBatch = createOverviewBatches(read);
  /** The cached totals whose last statement was not large, and did not fail. */
  const small = new WeakSet<CachedTotals>();

  /** Completes cached totals: together with those of others, if all of them are small. */
  async function complete(
    totals: CachedTotals,
    values: Completing,
    until: Until,
  ): Promise<UncoveredResult> {
    const result = await (small.delete(totals)
      ? readInBatch(values, until)
      : uncoveredOverview.run(read, values, { signal: until.signal, owner: values.provider }));
    if (isSmall(result.rows)) small.add(totals);
    return result;
  }

  return async (months, { caller: { providerId: provider }, now, signal, deadline }) => {
    const [current, oldest] = [months[0] as Month, months.at(-1) as Month];
    const values = { provider, now: toDatetime(now), nextMonth: toDatetime(current.end) };
    const fits = ({ month }: CachedTotals) => month === current.key;

    const cached = cache.get(provider, fits);
    observeCache(cached !== undefined);
    if (cached) {
      const { state, totals } = cached;
      const completing = { ...values, rollup: stateText(state), watermark: state.watermark };
      const result = await complete(totals, completing, { signal, deadline });
      const rollup = usedRollup(result.rows.state);
      if (isCurrent(cached, rollup)) return overview(totals, current, result, rollup);
      cache.evict(provider, cached);
    }

    const firstMonth = toDatetime(oldest.start);
    const result = await fullOverview.run(
      read,
      { ...values, firstMonth },
      { owner: provider, signal },
    );
    const rollup = usedRollup(result.rows.state);
    const totals = { month: current.key, ...rollupTotals(result.rows) };
    cache.set(provider, { state: rollup, totals }, fits);
    if (isSmall(result.rows)) small.add(totals);
    return overview(totals, current, result, rollup);
  };
}

function rollupTotals(rows: FullRows): OverviewTotals {
  return {
    grossByMonth: new Map(rows.grossByMonth.map((row) => [row.month, parseCents(row.gross)])),
    grossByServer: new Map(rows.grossByServer.map((row) => [row.server, parseCents(row.gross)])),
  };
}

/** Whether an overview may share its next statement. */
function isSmall({ state, servers, charges }: UncoveredResult["rows"]): boolean {
  let added = 0;
  for (const { future } of state) added += Number(parseFuture(future).charges);
  for (const row of charges) added += Number(row.charges);
  return servers.length + charges.length <= MAX_SHARED_ROWS && added <= MAX_SHARED_CHARGES;
}

/** Completes the totals of a rollup. */
function overview(
  totals: OverviewTotals,
  current: Month,
  { rows, asOf }: UncoveredResult,
  rollup: UsedRollup,
): Overview {
  const grossByMonth = new Map(totals.grossByMonth);
  const grossByServer = new Map(totals.grossByServer);
  let uncoveredCharges = 0;
  for (const { future } of rows.state) {
    increase(grossByMonth, current.key, -parseCents(parseFuture(future).gross));
  }
  for (const { month, server, charges, gross, grossUntilNow } of rows.charges) {
    increase(grossByMonth, month, parseCents(grossUntilNow));
    increase(grossByServer, server, parseCents(gross));
    uncoveredCharges += Number(charges);
  }
  return { rows, rollup, uncoveredCharges, asOf, grossByMonth, grossByServer };
}

/** The number and the gross of the covered charges dated after now: "3 12.50". */
function parseFuture(text: string): { charges: string; gross: string } {
  const [charges = "", gross = ""] = text.split(" ");
  return { charges, gross };
}

function increase(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
