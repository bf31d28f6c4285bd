/**
 * Reads the rows and the gross sums of an overview. The sums of the rollup are cached; while it keeps
 * its version, only the other rows are read.
 */
import { type Cents, parseCents } from "../../db/cents.ts";
import { fromDatetime } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { type Month, recentMonths } from "../calendar.ts";
import { fullOverview, uncoveredOverview } from "./queries.ts";

/** Gross amounts: those of the rollup in the cache, of all charges until now in a response. */
interface OverviewSums {
  /** Gross per month, by `Month.key`. */
  readonly grossByMonth: ReadonlyMap<string, Cents>;
  /** Lifetime gross per server that has a charge, by `servers.id`. */
  readonly grossByServer: ReadonlyMap<string, Cents>;
}

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

/** The maximum number of rows in the cache, each of about 80 bytes. */
const MAX_ROWS = 200_000;

/** Reads the overview of a caller. Rejects with a `ServiceError`, as `Read` does. */
type ReadOverview = (context: Context) => Promise<Overview>;

/** Creates a reader with an empty cache. `observeCache` is called with each lookup in the cache. */
export function createOverviewReader(
  read: Read,
  observeCache: (hit: boolean) => void = () => {},
): ReadOverview {
  const cache = createSumsCache<OverviewSums>(
    ({ grossByMonth, grossByServer }) => grossByMonth.size + grossByServer.size,
    MAX_ROWS,
  );
  return async ({ caller: { providerId: provider }, signal }) => {
    const options = { owner: provider, signal };
    const cached = cache.get(provider);
    const [known] = cached?.sums ?? [];
    observeCache(known !== undefined);
    if (cached && known) {
      const { version, watermark } = cached.rollup;
      const values = { provider, watermark };
      const { rows, asOf } = await uncoveredOverview.run(read, values, options);
      const isCurrent = usedRollup(stateOf(rows)).version === version;
      if (isCurrent && hasMonths(known, rows)) return overview(known, rows, cached.rollup, asOf);
    }
    const { rows, asOf } = await fullOverview.run(read, { provider }, options);
    const rollup = usedRollup(stateOf(rows));
    const sums = sumsOf(rows);
    cache.put(provider, rollup, sums);
    return overview(sums, rows, rollup, asOf);
  };
}

function stateOf({ state: [row] }: Rows): Rows["state"][number] {
  return row as Rows["state"][number];
}

/**
 * Whether cached sums have every covered month of an answer. Its instant may lie in the month before
 * theirs, on a node whose clock is behind; a month that is newer than theirs has no covered charge.
 */
function hasMonths({ grossByMonth }: OverviewSums, rows: Rows): boolean {
  const oldest = recentMonths(fromDatetime(stateOf(rows).now)).at(-1) as Month;
  return grossByMonth.has(oldest.key);
}

/** The sums of the rollup. A month is the difference of two. */
function sumsOf(rows: FullRows): OverviewSums {
  const amounts = rows.grossBefore[0]?.amounts.split(" ").map(parseCents) ?? [];
  const grossByMonth = recentMonths(fromDatetime(stateOf(rows).now)).map(({ key }, ago) => {
    return [key, (amounts[ago] ?? 0n) - (amounts[ago + 1] ?? 0n)] as const;
  });
  return {
    grossByMonth: new Map(grossByMonth),
    grossByServer: new Map(rows.grossByServer.map((row) => [row.server, parseCents(row.gross)])),
  };
}

/** Completes the sums of a rollup. */
function overview(sums: OverviewSums, rows: Rows, rollup: UsedRollup, asOf: number): Overview {
  const grossByMonth = new Map(sums.grossByMonth);
  const grossByServer = new Map(sums.grossByServer);
  let uncoveredCharges = 0;
  for (const { month, server, charges, gross } of [...rows.late, ...rows.recent]) {
    increase(grossByMonth, month, parseCents(gross));
    increase(grossByServer, server, parseCents(gross));
    uncoveredCharges += Number(charges);
  }
  const { now: instant, balance } = stateOf(rows);
  const now = fromDatetime(instant);
  return { rows, balance, rollup, uncoveredCharges, now, asOf, grossByMonth, grossByServer };
}

function increase(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
