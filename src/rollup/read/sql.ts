/**
 * SQL expressions that refer to a provider's rollup, for the queries of the RPCs.
 *
 * A result is the totals at a checkpoint, plus the covered rows between the checkpoint and the
 * requested instant, plus the rows that the rollup does not cover. One statement selects all of it
 * together with the watermark, or selects the rest and verifies the state of cached totals. So
 * late charges, backfills and a stalled rollup do not change the result, as long as writers keep
 * to what docs/rollups.md assumes of them. Without a rollup, every row is uncovered.
 *
 * Each scalar subquery reads one primary key. MySQL and MariaDB evaluate such a subquery as a
 * constant before they choose a plan.
 */
import { NO_GENERATION } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END, START } from "../timeline.ts";

/** The generation of the provider's current rollup; NULL if there is none. */
const GENERATION = `(SELECT generation FROM ${TABLES.state} WHERE provider_id = :provider)`;

/** The watermark of the provider's rollup; before every recording if there is none. */
const WATERMARK = `COALESCE((SELECT cut FROM ${TABLES.state} WHERE provider_id = :provider), '1000-01-01')`;

/** One end of the requested period. */
type Edge = "start" | "end";

/** How a query refers to the totals that it completes. */
export interface RollupTerms {
  /** The watermark, as an SQL expression. */
  readonly watermark: string;
  /** Where the rows between the totals and an edge begin: the right side of a comparison. */
  since(edge: Edge): string;
}

/** The last checkpoint at or before an edge. Its totals count what is dated before it. */
export function checkpointBefore(edge: Edge): string {
  return `COALESCE((SELECT MAX(at) FROM ${TABLES.checkpoints}
    WHERE provider_id = :provider AND generation = ${GENERATION}
      AND at <= :${edge} AND at < '${END}'), '${START}')`;
}

/** The first checkpoint after an edge. */
export function checkpointAfter(edge: Edge): string {
  return `COALESCE((SELECT MIN(at) FROM ${TABLES.checkpoints}
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at > :${edge}), '${END}')`;
}

/** For a statement that reads the totals at a checkpoint itself. */
export const FROM_TABLES: RollupTerms = {
  watermark: WATERMARK,
  since: (edge) => `>= ${checkpointBefore(edge)}`,
};

/**
 * For a statement that completes cached totals of an earlier period, whose edges are
 * `:cachedStart` and `:cachedEnd`. Both periods include their end.
 */
export const FROM_CACHE: RollupTerms = {
  watermark: ":watermark",
  since: (edge) => (edge === "start" ? ">= :cachedStart" : "> :cachedEnd"),
};

/** The state of the provider's rollup: the columns of a `RollupState`, without a table. */
export const STATE = {
  generation: `COALESCE(${GENERATION}, ${NO_GENERATION})`,
  watermark: WATERMARK,
};

/** The totals by server and instance at a checkpoint: what follows FROM. */
export function totalsAt(checkpoint: string): string {
  return `${TABLES.totals}
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at = ${checkpoint}`;
}

/** The checkpoint whose totals count everything covered. */
export const ALL_TIME = `'${END}'`;

/** The gross per calendar month: what follows FROM. */
export const MONTHS = `${TABLES.months} WHERE provider_id = :provider AND generation = ${GENERATION}`;
