/**
 * Which totals of a rollup changes leave as they are, so that cached ones need not be read again. Most
 * refreshes add to the last segment only, and change only the totals at the last checkpoint.
 */
import type { UsedRollup } from "./coverage.ts";
import { END } from "./timeline.ts";

/** The totals at checkpoints before an instant are those of an earlier state of the rollup. */
export interface Stability {
  /** The instant, event time as DATETIME(3) text. */
  readonly before: string;
  /** The revision of that state. */
  readonly since: number;
  /** Its watermark. */
  readonly sinceWatermark: string;
  /** The revision of which this is true. */
  readonly until: number;
}

/** What the stability of a rollup depends on. */
interface Current {
  readonly revision: number;
  readonly watermark: string;
  /** Of this revision or, if that was not recorded, of an earlier one. */
  readonly stability: Stability | undefined;
}

/**
 * The stability after a change. It reaches back over several changes as long as their first
 * checkpoint is the same.
 *
 * @param revision the next revision; the current one if only the watermark moves
 * @param changed the first checkpoint whose totals change; undefined if there is none
 */
export function nextStability(
  current: Current,
  revision: number,
  changed: string | undefined,
): Stability {
  const { stability } = current;
  const isKnown = stability !== undefined && stability.until === current.revision;
  if (isKnown && (changed === undefined || changed === stability.before)) {
    return { ...stability, until: revision };
  }
  const [since, sinceWatermark] = [current.revision, current.watermark];
  return { before: changed ?? END, since, sinceWatermark, until: revision };
}

/**
 * SQL expression for a row of `STATE`: the rollup's stability as text; NULL if it is not known. One
 * column, because every row of a statement is as wide as its widest.
 */
export const STABILITY =
  "CONCAT(MAX(stable_since), ',', MAX(stable_since_cut), ',', MAX(stable_until), ',', MAX(stable_before))";

/** The state of a rollup. */
type State = Pick<UsedRollup, "generation" | "watermark" | "revision">;

/**
 * Whether the totals at a checkpoint, and all that is dated before it, are the same in two states.
 *
 * @param stability the text of `STABILITY`, read with the later state
 */
export function isStable(
  earlier: State,
  later: State,
  stability: string,
  checkpoint: string,
): boolean {
  const [since = "", sinceWatermark = "", until = "", before = ""] = stability.split(",");
  return (
    until === later.revision &&
    checkpoint < before &&
    earlier.generation === later.generation &&
    isInOrder(Number(since), Number(earlier.revision), Number(later.revision)) &&
    isInOrder(sinceWatermark, earlier.watermark, later.watermark)
  );
}

function isInOrder<Value extends number | string>(
  ...[first, second, third]: [Value, Value, Value]
) {
  return first <= second && second <= third;
}
