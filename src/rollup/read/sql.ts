/**
 * SQL expressions that refer to a provider's rollup, for the queries of the RPCs.
 *
 * A result is made of totals at checkpoints, of the covered rows between these and the edges of the
 * requested period, and of the rows that the rollup does not cover. One statement selects all of it
 * together with the watermark, or selects the rest and verifies the state of cached totals.
 * So late charges, backfills and a stalled rollup do not change the result, as long as writers keep
 * to what docs/rollups.md assumes of them. Without a rollup, every row is uncovered.
 *
 * Each scalar subquery reads one primary key. MySQL and MariaDB evaluate such a subquery as a
 * constant before they choose a plan. The database's clock stands still during a statement.
 */
import { fromDatetime, toDatetime } from "../../db/datetime.ts";
import { NO_GENERATION, NO_WATERMARK, type UsedRollup } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END } from "../timeline.ts";

/**
 * What follows FROM for the provider's current rollup. A watermark ahead of the database's clock
 * cannot be true: such a rollup is treated like none.
 */
const ROLLUP = `${TABLES.state} WHERE provider_id = :provider AND generation > ${NO_GENERATION} AND cut <= UTC_TIMESTAMP(3)`;

/** The generation of the provider's rollup; NULL if there is none. */
const GENERATION = `(SELECT generation FROM ${ROLLUP})`;

/** The watermark of the provider's rollup; before every recording if there is none. */
const WATERMARK = `COALESCE((SELECT cut FROM ${ROLLUP}), '${NO_WATERMARK}')`;

/** What a rollup holds changes only together with this text, which `stateText` formats too. */
const STATE_TEXT = "CONCAT(generation, ' ', revision, ' ', cut)";

/** How a query refers to the rollup whose totals it completes. */
export interface RollupTerms {
  /** The watermark and the generation, as SQL expressions. */
  readonly watermark: string;
  readonly generation: string;
  /**
   * Ends the condition of a query that may read many rows: without effect, or a condition that is
   * false if the cached totals are outdated. The database evaluates it before it reads a row.
   */
  readonly guard: string;
}

/** What follows FROM for the checkpoints of the provider's rollup. */
const CHECKPOINTS = `${TABLES.checkpoints} WHERE provider_id = :provider AND generation = ${GENERATION}`;

/** The last checkpoint at or before an instant, an SQL expression; NULL if there is none. */
export function checkpointBefore(instant: string): string {
  return `(SELECT MAX(at) FROM ${CHECKPOINTS} AND at <= ${instant})`;
}

/** The first checkpoint after an instant, an SQL expression; `END` if there is none. */
export function checkpointAfter(instant: string): string {
  return `COALESCE((SELECT MIN(at) FROM ${CHECKPOINTS} AND at > ${instant}), '${END}')`;
}

/** How many checkpoints are read at once: all of a rollup, unless it covers 100,000 charges or more. */
export const MAX_LATEST = 1_000;

/** The latest checkpoints of the provider's rollup, in descending order: what follows FROM. */
export const LATEST_CHECKPOINTS = `${CHECKPOINTS} ORDER BY at DESC LIMIT ${MAX_LATEST}`;

/** The last instant that the totals at a checkpoint count, as DATETIME(3) text. */
export function lastInstantOf(checkpoint: string): string {
  return checkpoint === END ? END : toDatetime(fromDatetime(checkpoint) - 1);
}

/** SQL condition: the cached totals with the `stateText` `:rollup` are those of the rollup. */
const NOT_OUTDATED = `COALESCE((SELECT ${STATE_TEXT} FROM ${ROLLUP}), '') = :rollup`;

/** For a statement that reads totals of the rollup. */
export const FROM_TABLES: RollupTerms = { watermark: WATERMARK, generation: GENERATION, guard: "" };

/** The value of `:rollup` in a statement with `FROM_BOTH` that completes no cached totals. */
export const NO_CACHED_TOTALS = "none";

/** For a statement that reads totals of the rollup, and may complete cached ones too. */
export const FROM_BOTH: RollupTerms = {
  ...FROM_TABLES,
  guard: ` AND (:rollup = '${NO_CACHED_TOTALS}' OR ${NOT_OUTDATED})`,
};

/** For a statement that completes cached totals. `:rollup` is their `stateText`. */
export const FROM_CACHE: RollupTerms = {
  watermark: ":watermark",
  generation: "CAST(SUBSTRING_INDEX(:rollup, ' ', 1) AS UNSIGNED)",
  guard: ` AND ${NOT_OUTDATED}`,
};

/** The columns of a row of `rollups`: see `usedRollup`. */
export const STATE_COLUMNS = {
  generation: "generation",
  watermark: "cut",
  revision: "revision",
  ahead: "cut > UTC_TIMESTAMP(3)",
};

/** The provider's row of `rollups`. The aggregates make it one row, of NULLs, if there is none. */
export const STATE = {
  select: {
    generation: "MAX(generation)",
    watermark: "MAX(cut)",
    revision: "MAX(revision)",
    ahead: "MAX(cut) > UTC_TIMESTAMP(3)",
  },
  from: `${TABLES.state} WHERE provider_id = :provider`,
};

/** For the columns of `STATE`: whether the cached totals are those of this rollup. */
export const IS_CACHED = `MAX(${STATE_TEXT}) = :rollup AND MAX(cut) <= UTC_TIMESTAMP(3)`;

/** The rollup that a statement used, from its rows of `STATE`. */
export function usedRollup([row]: readonly Record<
  keyof typeof STATE.select,
  string
>[]): UsedRollup {
  const ahead = row?.ahead === "1" ? row.watermark : "";
  if (row === undefined || ahead || ["", NO_GENERATION].includes(row.generation)) {
    return { generation: NO_GENERATION, watermark: NO_WATERMARK, revision: "0", ahead };
  }
  const { generation, watermark, revision } = row;
  return { generation, watermark, revision, ahead };
}

/** The value of `:rollup` for cached totals: equal texts mean that nothing in the rollup changed. */
export function stateText({ generation, revision, watermark }: Omit<UsedRollup, "ahead">): string {
  return generation === NO_GENERATION ? "" : `${generation} ${revision} ${watermark}`;
}

/** The totals by server and instance at a checkpoint: what follows FROM. */
export function totalsAt(checkpoint: string): string {
  return `${TABLES.totals}
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at = ${checkpoint}`;
}

/** The checkpoint whose totals count everything covered. */
export const ALL_TIME = `'${END}'`;

/** The gross per calendar month: what follows FROM. */
export const MONTHS = `${TABLES.months} WHERE provider_id = :provider AND generation = ${GENERATION}`;
