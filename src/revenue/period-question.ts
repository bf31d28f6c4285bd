/** The question for the totals of a period by owner, or of the provider as a whole (period-sums.ts). */
import { EARLIEST, earlierOf, laterOf } from "../db/datetime.ts";
import { type Question, question, type Statements } from "../rollup/read/ask.ts";
import {
  type Boundaries,
  boundariesOf,
  boundariesOfLeaves,
  countUncovered,
  storedBoundary,
} from "../rollup/read/boundaries.ts";
import type { SumsCache } from "../rollup/read/cache.ts";
import { compareSums } from "../rollup/read/damage.ts";
import type { CurrentRollup, Facts } from "../rollup/read/facts.ts";
import { type SumsRow, sumsOf } from "../rollup/stored-sums.ts";
import { NO_SUMS, plus } from "../rollup/sums.ts";
import {
  type Owner,
  ownerSums,
  type PeriodRows,
  type StoredSums,
  type TotalsByOwner,
  totalsOf,
} from "./breakdown/totals.ts";
import { boundsOf, type Period } from "./period.ts";

/** The rows of the statements of `periodQueries`, and maybe others. */
interface Rows extends PeriodRows {
  readonly confirmed: readonly { readonly version: string }[];
  readonly atFirst: readonly (Owner & SumsRow)[];
  readonly atLast: readonly (Owner & SumsRow)[];
  readonly totalAtFirst: readonly SumsRow[];
  readonly totalAtLast: readonly SumsRow[];
}

const NO_STORED_SUMS: StoredSums = { atFirst: [], atLast: [] };

/** What is asked about, given the facts. */
interface Asked {
  readonly provider: string;
  readonly period: Period;
  readonly facts: Facts;
  readonly cache?: SumsCache<StoredSums>;
}

/** Makes the question. `answerOf` makes an answer of the rows and the totals. */
export function periodQuestion<R extends Rows, T>(
  { provider, period, facts: { now, rollup }, cache }: Asked,
  statements: Statements<R>,
  answerOf: (rows: R, totals: TotalsByOwner) => T,
): Question<T> {
  const bounds = boundsOf(period, now);
  const stretch = {
    from: BigInt(period.start - EARLIEST),
    until: BigInt(Math.min(period.end + 1, now) - EARLIEST),
  };
  const [from, until] = [String(stretch.from), String(stretch.until)];
  const inRollup = rollup && boundaryValues(period, now, rollup);
  return question<R, StoredSums, T>({
    rollup,
    statements,
    values: { provider, ...bounds, from, until, ...inRollup?.values },
    ...(inRollup && {
      stored: {
        cache,
        place: `${inRollup.boundaries.first} ${inRollup.boundaries.last}`,
        sumsOf: (rows) => storedSums(rows, inRollup.boundaries),
      },
    }),
    answer: (rows, stored = NO_STORED_SUMS) => ({
      value: answerOf(rows, totalsOf(rows, stored, stretch)),
      uncoveredCharges: countUncovered(rows, inRollup?.boundaries, rollup?.watermark),
    }),
  });
}

/** The boundaries of a rollup in a period, and what lies between them and its ends as parameters. */
function boundaryValues(period: Period, now: number, { watermark, slot, leaf }: CurrentRollup) {
  const end = Math.min(period.end, now);
  const boundaries = boundariesOf(watermark, end, boundariesOfLeaves(leaf, period.start, end));
  const { first, last } = boundaries;
  const { start } = boundsOf(period, now);
  const values = {
    ...{ watermark, slot, first, last },
    boundary: storedBoundary(first, watermark),
    other: storedBoundary(last, watermark),
    // Without a boundary in the period the last one is before its start.
    tailFrom: laterOf(last, start),
    headFrom: earlierOf(first, start),
    headTo: laterOf(first, start),
    headSign: first > start ? "-1" : "1",
  };
  return { boundaries, values };
}

/** @throws DamagedRollup if owners differ from the provider as a whole */
function storedSums(rows: Rows, { first, last }: Boundaries): StoredSums {
  const [atFirst, atLast] = [ownerSums(rows.atFirst), ownerSums(rows.atLast)];
  compareSums([
    { at: first, parts: sum(atFirst), total: sumsOf(rows.totalAtFirst[0] ?? {}) },
    { at: last, parts: sum(atLast), total: sumsOf(rows.totalAtLast[0] ?? {}) },
  ]);
  return { atFirst, atLast };
}

const sum = (owners: StoredSums["atFirst"]) => owners.map(({ sums }) => sums).reduce(plus, NO_SUMS);
