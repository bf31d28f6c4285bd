/**
 * Reads the rows and the gross sums of an overview. The sums of the rollup are cached; while it keeps
 * its version, only the other rows are read.
 */
import { type Cents, parseCents } from "../../db/cents.ts";
import { fromDatetime, instantOf } from "../../db/datetime.ts";
import type { Read } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Context } from "../../handler.ts";
import type { UsedRollup } from "../../rollup/coverage.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { usedRollup } from "../../rollup/read/sql.ts";
import { monthOf, monthsAround, recentMonths } from "../calendar.ts";
import { fullOverview, monthParameters, uncoveredOverview } from "./queries.ts";

/** Gross amounts: those of the rollup in the cache, of all charges until now in a response. */
interface OverviewSums {
  /** Gross per month, by `Month.start`. */
  readonly grossByMonth: ReadonlyMap<number, Cents>;
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

/** The first time, the months are those of this host's clock, the second time of the database's. */
const MAX_ATTEMPTS = 2;

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
  return async ({ caller: { providerId: provider }, now: estimate, signal }) => {
    const options = { owner: provider, signal };
    let now = estimate;
    const cached = cache.get(provider);
    const [known] = cached?.sums ?? [];
    observeCache(known !== undefined);
    if (cached && known) {
      const { version, watermark } = cached.rollup;
      const values = { provider, watermark };
      const { rows, asOf } = await uncoveredOverview.run(read, values, options);
      now = nowOf(rows);
      const isCurrent = usedRollup(stateOf(rows)).version === version;
      if (isCurrent && hasMonths([...known.grossByMonth.keys()], now)) {
        return overview(known, rows, cached.rollup, asOf);
      }
    }
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const starts = monthsAround(now);
      const values = { provider, ...monthParameters(starts) };
      const { rows, asOf } = await fullOverview.run(read, values, options);
      now = nowOf(rows);
      if (!hasMonths(starts, now)) continue;
      const rollup = usedRollup(stateOf(rows));
      const sums = sumsOf(rows, starts);
      cache.put(provider, rollup, sums);
      return overview(sums, rows, rollup, asOf);
    }
    const cause = new Error("the clocks of the database's nodes differ by more than a month");
    throw new ServiceError("databaseUnavailable", undefined, { cause });
  };
}

function stateOf({ state: [row] }: Rows): Rows["state"][number] {
  return row as Rows["state"][number];
}

/** The instant of an answer by the database's clock, in epoch ms. */
const nowOf = (rows: Rows) => fromDatetime(stateOf(rows).now);

/** Whether the months of an answer at `now` are among those that start at `starts`. */
function hasMonths(starts: readonly number[], now: number): boolean {
  return recentMonths(now).every(({ start }) => starts.includes(start));
}

/** The sums of the rollup. A month is the difference of two. */
function sumsOf(
  { before, sums, grossByServer }: FullRows,
  starts: readonly number[],
): OverviewSums {
  const grossByMonth = new Map(starts.map((start) => [start, 0n]));
  let sum = parseCents(before[0]?.gross ?? "0.00");
  for (const { at, gross } of sums.toSorted((one, other) => (one.at < other.at ? -1 : 1))) {
    const upTo = parseCents(gross);
    // The last boundary of a month: what is dated before it, and not before that of the month before.
    increase(grossByMonth, monthOf(fromDatetime(at) - 1), upTo - sum);
    sum = upTo;
  }
  return {
    grossByMonth,
    grossByServer: new Map(grossByServer.map((row) => [row.server, parseCents(row.gross)])),
  };
}

/** Completes the sums of a rollup. */
function overview(sums: OverviewSums, rows: Rows, rollup: UsedRollup, asOf: number): Overview {
  const grossByMonth = new Map(sums.grossByMonth);
  const grossByServer = new Map(sums.grossByServer);
  let uncoveredCharges = 0;
  for (const { at, server, charges, gross } of [...rows.late, ...rows.recent]) {
    increase(grossByMonth, monthOf(instantOf(at)), parseCents(gross));
    increase(grossByServer, server, parseCents(gross));
    uncoveredCharges += Number(charges);
  }
  const { balance } = stateOf(rows);
  return {
    rows,
    balance,
    rollup,
    uncoveredCharges,
    now: nowOf(rows),
    asOf,
    grossByMonth,
    grossByServer,
  };
}

function increase<Key>(sums: Map<Key, Cents>, key: Key, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}
