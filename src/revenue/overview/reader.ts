/**
 * Reads the rows and the sums of an overview. The sums of the rollup are cached by its version: then they need not
 * be read.
 */
import { fromDatetime, instantOf, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import { type Question, question } from "../../rollup/read/ask.ts";
import { createSumsCache } from "../../rollup/read/cache.ts";
import { compareSums } from "../../rollup/read/damage.ts";
import type { Facts } from "../../rollup/read/facts.ts";
import { countCharges, type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { startOf } from "../../rollup/stretches.ts";
import { NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";
import { overviewStatements } from "./queries.ts";

/** Sums of charges: those of the rollup in the cache, of all until now in a response. */
interface OverviewSums {
  /** By `Month.start`, of each month that has a charge. */
  readonly byMonth: ReadonlyMap<number, Sums>;
  /** Lifetime sums of each server that has a charge, by `servers.id`. */
  readonly byServer: ReadonlyMap<string, Sums>;
}

const NO_OVERVIEW_SUMS: OverviewSums = { byMonth: new Map(), byServer: new Map() };

type Rows = Awaited<ReturnType<typeof overviewStatements.full.run>>["rows"];

/** What an overview is made of. */
export interface Overview extends OverviewSums {
  readonly rows: Rows;
  readonly now: number;
}

/** The maximum number of rows in the cache, each of about 205 bytes: 40 MB. */
const MAX_CACHED_ROWS = 200_000;

/** Creates a reader with an empty cache. */
export function createOverviewReader() {
  const cache = createSumsCache<OverviewSums>(
    ({ byMonth, byServer }) => byMonth.size + byServer.size,
    MAX_CACHED_ROWS,
  );
  /** Makes the question for the overview of a provider, given the facts. */
  return (provider: string, { now, rollup }: Facts): Question<Overview> =>
    question({
      rollup,
      statements: overviewStatements,
      values: { provider, now: toDatetime(now), ...rollup, boundary: LAST_INSTANT },
      stored: { cache, place: "", sumsOf: sumsFromRollup },
      answer(rows, sums = NO_OVERVIEW_SUMS) {
        const charges = [...rows.late, ...rows.recent];
        const value = { rows, now, ...complete(sums, charges) };
        return { value, uncoveredCharges: countCharges(charges) };
      },
    });
}

/**
 * The sums of the rollup.
 *
 * @throws DamagedRollup if the charges of all servers, or of all months, differ from those of the provider as a whole
 */
function sumsFromRollup({ total: [whole], months, sumsByServer }: Rows): OverviewSums {
  const total = sumsOf(whole ?? {});
  const byServer = new Map(sumsByServer.map((row) => [row.server, sumsOf(row)]));
  const byMonth = new Map(months.map((row) => [fromDatetime(row.at), sumsOf(row)]));
  compareSums([
    { at: "W", parts: byServer.values().reduce(plus, NO_SUMS), total },
    { at: "months", parts: byMonth.values().reduce(plus, NO_SUMS), total },
  ]);
  return { byMonth, byServer };
}

/** Charges that stored sums do not hold, of a server in a month. */
type ChargesRow = SumsRow & Readonly<Record<"server" | "at" | "charges", string>>;

/** Completes sums with charges that they do not hold. */
function complete(sums: OverviewSums, charges: readonly ChargesRow[]): OverviewSums {
  const byMonth = new Map(sums.byMonth);
  const byServer = new Map(sums.byServer);
  for (const row of charges) {
    const sums = sumsOf(row);
    increase(byMonth, startOf(instantOf(row.at), "P1M"), sums);
    increase(byServer, row.server, sums);
  }
  return { byMonth, byServer };
}

function increase<Key>(sums: Map<Key, Sums>, key: Key, added: Sums): void {
  sums.set(key, plus(sums.get(key) ?? NO_SUMS, added));
}
