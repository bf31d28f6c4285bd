/**
 * How the queries use the rollup: everything recorded up to its watermark comes from the figures
 * at a checkpoint and the few raw rows between the checkpoint and the instant that is asked
 * for; what was recorded later comes raw. All of it is asked in one snapshot together with
 * the watermark, or remembered and checked against it there, so that a late charge, a backfill or
 * a rollup that stands still never makes an answer wrong. Without a rollup everything is raw.
 *
 * The scalar subqueries read a primary key each, and both engines take them for constants
 * before they choose a plan.
 */
import { END, START } from "../timeline.ts";

/** The version of the provider's rollup that is read; NULL without one. */
const GENERATION = "(SELECT generation FROM rollups WHERE provider_id = :provider)";

/** Until which recording time the rollup holds everything. */
const WATERMARK = "COALESCE((SELECT cut FROM rollups WHERE provider_id = :provider), '1000-01-01')";

/** How a question refers to the rollup: where it ends, and what of the period's edges it leaves. */
export interface RollupTerms {
  /** Until which recording time the rollup holds everything. */
  readonly watermark: string;
  /** From where on raw rows are added up to the period's start or end: a comparison's right side. */
  since(edge: "start" | "end"): string;
}

/** The last checkpoint not after the period's start or end: its figures are of what lies before it. */
export function checkpointBefore(edge: "start" | "end"): string {
  return `COALESCE((SELECT MAX(at) FROM rollup_checkpoints
    WHERE provider_id = :provider AND generation = ${GENERATION}
      AND at <= :${edge} AND at < '${END}'), '${START}')`;
}

/** The rollup as the database has it: found in the statement itself. */
export const AS_FOUND: RollupTerms = {
  watermark: WATERMARK,
  since: (edge) => `>= ${checkpointBefore(edge)}`,
};

/**
 * The rollup as it is remembered, with what was added up to the edges of an earlier period:
 * raw rows up to the watermark do not change. A period includes its end, and so did the earlier one.
 */
export const AS_CACHED: RollupTerms = {
  watermark: ":watermark",
  since: (edge) => (edge === "start" ? ">= :knownStart" : "> :knownEnd"),
};

/** The first checkpoint after the period's start or end. */
export function checkpointAfter(edge: "start" | "end"): string {
  return `COALESCE((SELECT MIN(at) FROM rollup_checkpoints
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at > :${edge}), '${END}')`;
}

/** Which rollup it is that an answer saw, as what is selected. */
export const STATE = { generation: `COALESCE(${GENERATION}, 0)`, watermark: WATERMARK };

/** The figures of every server and instance at a checkpoint, as what stands after FROM. */
export function figuresAt(checkpoint: string): string {
  return `rollup_figures
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at = ${checkpoint}`;
}

/** The checkpoint that stands for all of time. */
export const ALL_TIME = `'${END}'`;

/** The sums per month, as what stands after FROM. */
export const MONTHS = `rollup_months WHERE provider_id = :provider AND generation = ${GENERATION}`;
