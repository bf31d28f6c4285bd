/** Refreshes and checks in the model: a change is computed in a snapshot and written afterwards. */
import { nextStability } from "../../../../src/rollup/stability.ts";
import { listEnds, sumFresh, sumSegments } from "./ledger.ts";
import type { Model } from "./model.ts";
import {
  CHECKPOINT_TEXTS,
  type Change,
  type Held,
  type Identity,
  instantText,
  isNone,
  isRental,
  none,
  part,
  plus,
  type RollupRow,
  type Row,
  type Run,
  type State,
  type Totals,
} from "./state.ts";

/** The charges of totals, without the rentals. */
export function chargesOf(totals: Totals, rows: readonly Row[]): Totals {
  return part(totals, (row) => {
    const version = rows[row]?.committed;
    return !version || !isRental(version);
  });
}

/** Compares segments with the ledger, as computeChange does. `before` are the checkpoints. */
export function computeChange(
  { rows }: State,
  { generation, watermark, revision }: RollupRow,
  before: readonly Totals[],
  held: Held,
  touched: readonly boolean[],
  until: number,
  has: Model["has"],
): Change {
  const cover = { watermark: until, held };
  const fresh = sumFresh(rows, watermark, cover, has);
  const additions = sumSegments(rows, cover, has).map((sum, index) => {
    if (!touched[index]) return none(rows);
    const stored = plus(before[index] ?? none(rows), before[index - 1] ?? none(rows), -1);
    return plus(sum, stored, -1);
  });
  return {
    from: { generation, watermark, revision },
    until,
    additions,
    month: chargesOf(
      additions.reduce((sum, addition) => plus(sum, addition)),
      rows,
    ),
    held: listEnds(rows, cover, touched, has),
    differs: additions.some((addition, index) =>
      addition.some((count, at) => count < 0 || count > (fresh[index]?.[at] ?? 0)),
    ),
  };
}

/** Writes the change of a run, unless the rollup has changed since, as writeChange does. */
export function writeChange({ rollup, generations, rows }: State, run: Run, has: Model["has"]) {
  const { change } = run;
  delete run.change;
  if (!change || !rollup) return;
  const { from, until, additions } = change;
  const same = (field: keyof Identity) => rollup[field] === from[field];
  if (has("refresh compares generation") && !same("generation")) return;
  if (has("refresh compares watermark") && !same("watermark")) return;
  if (has("refresh compares revision") && !same("revision")) return;
  const target = generations[from.generation];
  let changesList = false;
  if (target) {
    let sum = none(rows);
    target.checkpoints = target.checkpoints.map((totals, index) => {
      sum = plus(sum, additions[index] ?? none(rows));
      return plus(totals, sum);
    });
    target.month = plus(target.month, change.month);
    changesList = change.held.join() !== target.held.join();
    target.held = change.held;
  }
  const changes = changesList || !additions.every(isNone);
  const revision = rollup.revision + (has("revision of a change") && changes ? 1 : 0);
  const first = CHECKPOINT_TEXTS.find((_, index) => !isNone(additions[index] ?? []));
  const current = { ...rollup, watermark: instantText(rollup.watermark) };
  rollup.stability = nextStability({ stability: undefined, ...current }, revision, first);
  Object.assign(rollup, { watermark: until, revision });
  if (change.differs) run.reported = true;
}
