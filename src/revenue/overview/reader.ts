/**
 * Reads the rows and the gross totals of an overview. The totals of the covered charges are
 * cached; while they are valid, only uncovered rows are read.
 */
import { type Cents, parseCents } from "../../db/cents.ts";
import { toDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { createTotalsCache, isCurrent } from "../../rollup/read/cache.ts";
import type { Month } from "../calendar.ts";
import type { Context } from "../context.ts";
import { fullOverview, uncoveredOverview } from "./queries.ts";

/** Gross amounts: those of the covered charges in the cache, of all charges in a response. */
interface OverviewTotals {
  /** Gross per month, by `Month.key`. The current month counts charges until now. */
  readonly grossByMonth: ReadonlyMap<string, Cents>;
  /** Lifetime gross per server that has a charge, by `servers.id`. */
  readonly grossByServer: ReadonlyMap<string, Cents>;
}

/** Totals in the cache, valid from an instant to the end of its month. */
interface CachedTotals extends OverviewTotals {
  /** Epoch ms. */
  readonly validFrom: number;
  /** The `Month.key` of that instant. */
  readonly month: string;
}

type FullRows = Awaited<ReturnType<typeof fullOverview.run>>;
type UncoveredRows = Awaited<ReturnType<typeof uncoveredOverview.run>>;

/** What an overview is made of. */
export interface Overview extends OverviewTotals {
  readonly rows: Pick<UncoveredRows, "state" | "servers" | "payouts">;
}

/** Reads the overview of a caller for `months`, most recent first. Rejects with a `ServiceError`. */
type ReadOverview = (months: readonly Month[], context: Context) => Promise<Overview>;

/** Creates a reader with an empty cache. */
export function createOverviewReader(read: Read): ReadOverview {
  const cache = createTotalsCache<CachedTotals>(
    ({ grossByMonth, grossByServer }) => grossByMonth.size + grossByServer.size,
  );
  return async (months, { caller: { providerId: provider }, now, signal, deadline }) => {
    const [current, oldest] = [months[0] as Month, months.at(-1) as Month];
    const values = { provider, now: toDatetime(now) };
    const options = { owner: provider, signal, deadline };
    const fits = ({ validFrom, month }: CachedTotals) => validFrom <= now && month === current.key;

    const cached = cache.get(provider, fits);
    if (cached) {
      const { watermark } = cached.state;
      const rows = await uncoveredOverview.run(read, { ...values, watermark }, options);
      if (isCurrent(cached, rows.state)) return { rows, ...withUncovered(cached.totals, rows) };
    }

    const [firstMonth, nextMonth] = [toDatetime(oldest.start), toDatetime(current.end)];
    const rows = await fullOverview.run(read, { ...values, firstMonth, nextMonth }, options);
    const totals = { validFrom: now, month: current.key, ...coveredTotals(rows, current) };
    const [state] = rows.state;
    // A charge dated later in the month would have to be added once its time has come.
    const isStable = rows.futureCharges[0]?.charges === "0";
    if (state && isStable) cache.set(provider, { state, totals }, fits);
    return { rows, ...withUncovered(totals, rows) };
  };
}

function coveredTotals(rows: FullRows, current: Month): OverviewTotals {
  const grossByMonth = new Map(rows.grossByMonth.map((row) => [row.month, parseCents(row.gross)]));
  for (const row of rows.futureCharges) increase(grossByMonth, current.key, -parseCents(row.gross));
  const grossByServer = new Map(
    rows.grossByServer.map((row) => [row.server, parseCents(row.gross)]),
  );
  return { grossByMonth, grossByServer };
}

function withUncovered(totals: OverviewTotals, { charges }: UncoveredRows): OverviewTotals {
  const grossByMonth = new Map(totals.grossByMonth);
  const grossByServer = new Map(totals.grossByServer);
  for (const { month, server, gross, grossUntilNow } of charges) {
    increase(grossByMonth, month, parseCents(grossUntilNow));
    increase(grossByServer, server, parseCents(gross));
  }
  return { grossByMonth, grossByServer };
}

function increase(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
