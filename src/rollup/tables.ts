/**
 * The rollup's tables. Every row belongs to a provider and a generation; `state` has one row per
 * provider, which names the current generation and its watermark (the column `cut`).
 */
export const TABLES = {
  /** The current generation with its watermark, and those of a build in progress. */
  state: "rollups",
  /** The checkpoints, each with the gross of everything dated before it. */
  checkpoints: "rollup_checkpoints",
  /** The totals of each server and instance at a checkpoint. Instance 0 stands for none. */
  totals: "rollup_figures",
  /** The rentals that are counted in the totals, each with its end. */
  rentals: "rollup_rentals",
  /** The gross of each calendar month. */
  months: "rollup_months",
} as const;
