/**
 * How the questions use the rollup: everything recorded up to its cut comes from the figures
 * at a checkpoint and the few raw rows between the checkpoint and the instant that is asked
 * for; what was recorded later comes raw. All of it is asked in one snapshot together with
 * the cut, so that a late charge, a backfill or a rollup that stands still never makes an
 * answer wrong. Without a rollup everything is raw.
 *
 * The scalar subqueries read a primary key each, and both engines take them for constants
 * before they choose a plan.
 */
import { END, START } from "../database/rollup/timeline.ts";

/** The version of the provider's rollup that is read; NULL without one. */
const GENERATION = "(SELECT generation FROM rollups WHERE provider_id = :provider)";

/** Until which recording time the rollup holds everything. */
export const CUT =
  "COALESCE((SELECT cut FROM rollups WHERE provider_id = :provider), '1000-01-01')";

/** The last checkpoint not after an instant: what was charged before it is in its figures. */
export function checkpointAt(parameter: string): string {
  return `COALESCE((SELECT MAX(at) FROM rollup_checkpoints
    WHERE provider_id = :provider AND generation = ${GENERATION}
      AND at <= ${parameter} AND at < '${END}'), '${START}')`;
}

/** The figures of every server and instance at a checkpoint, as what stands after FROM. */
export function figuresAt(checkpoint: string): string {
  return `rollup_figures
    WHERE provider_id = :provider AND generation = ${GENERATION} AND at = ${checkpoint}`;
}

/** The checkpoint that stands for all of time. */
export const ALL_TIME = `'${END}'`;

/** The sums per month, as what stands after FROM. */
export const MONTHS = `rollup_months WHERE provider_id = :provider AND generation = ${GENERATION}`;
