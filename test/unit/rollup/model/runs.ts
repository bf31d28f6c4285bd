/** The steps of a run: each is one snapshot or one short transaction, as in src/rollup/write/. */
import { beginBuild, computeSegment, purge, writeSegment } from "./builds.ts";
import { computeChange, writeChange } from "./changes.ts";
import { touchedSegments } from "./ledger.ts";
import type { Model, RunOptions } from "./model.ts";
import { MARGIN, NO_WATERMARK, noneHeld, type RollupRow, type Run, type State } from "./state.ts";

/** The step of a run after the last one. */
export const DONE = "done";

/** A run that has not begun. */
export function newRun(): Run {
  return { step: "read the clock", until: 0 };
}

/** Takes the next step of a run of this state. */
export function stepRun(state: State, run: Run, options: RunOptions, model: Model): void {
  const { has } = model;
  const none = { generation: 0, watermark: NO_WATERMARK, revision: 0, build: null };
  const version: RollupRow = state.rollup ?? none;
  const { checkpoints = [], held = noneHeld(state.rows) } =
    state.generations[version.generation] ?? {};
  const refresh = has("one snapshot of a refresh") ? "compute the refresh" : "read the totals";
  const afterRefresh = options.check && has("check") ? "compute the check" : DONE;

  switch (run.step) {
    case "read the clock": {
      const transactionsFirst = !has("clock before transactions");
      if (transactionsFirst) run.oldest = oldestSeen(state, model);
      else run.now = state.now;
      run.step = "read the transactions";
      // Two steps are one where the account sees no transactions.
      if (model.scenario.writers.some(({ open }) => open === "visible")) return;
      stepRun(state, run, options, model);
      return;
    }
    case "read the transactions":
      if (run.now === undefined) run.now = state.now;
      else run.oldest = oldestSeen(state, model);
      setUntil(run, has);
      delete run.oldest;
      run.found = {
        generation: version.generation,
        building: version.build !== null,
        ahead: version.watermark > run.now && has("build anew if ahead"),
      };
      run.step =
        run.found.generation > 0 && !run.found.building && !run.found.ahead && !options.rebuild
          ? refresh
          : "begin the build";
      return;
    case "read the totals":
      run.stale = checkpoints;
      run.step = "compute the refresh";
      return;
    case "compute the refresh": {
      const before = run.stale ?? checkpoints;
      delete run.stale;
      if (version.generation === 0) run.step = "begin the build";
      else if (run.until <= version.watermark && has("never back")) run.step = afterRefresh;
      else {
        const { watermark } = version;
        const touched = touchedSegments(state.rows, { watermark, held }, run.until, has);
        run.change = computeChange(state, version, before, held, touched, run.until, has);
        run.step = "write the refresh";
      }
      return;
    }
    case "write the refresh":
      writeChange(state, run, has);
      run.step = afterRefresh;
      return;
    case "begin the build":
      beginBuild(state, run, version, options.rebuild ?? false, has);
      run.step = "compute a segment";
      return;
    case "compute a segment":
      computeSegment(state, run, has);
      run.step = "write the segment";
      return;
    case "write the segment":
      run.step = writeSegment(state, run, has) ? "compute a segment" : "purge";
      return;
    case "purge": {
      purge(state);
      // A resumed build has the watermark of the run that began it.
      const resumed = run.build?.watermark !== run.until;
      delete run.build;
      run.step = resumed ? refresh : afterRefresh;
      return;
    }
    case "compute the check": {
      run.step = DONE;
      if (version.generation === 0 || version.watermark > (run.now ?? 0)) return;
      const { watermark } = version;
      run.change = computeChange(state, version, checkpoints, held, [true, true], watermark, has);
      run.step = "write the check";
      return;
    }
    case "write the check":
      writeChange(state, run, has);
      run.step = DONE;
      return;
  }
}

/** The start of the oldest open transaction that the account of the rollup sees. */
function oldestSeen({ rows }: State, { scenario, has }: Model): number | null {
  if (!has("waiting")) return null;
  const starts = rows.flatMap(({ pending }) =>
    pending && scenario.writers[pending.writer]?.open === "visible" ? [pending.began] : [],
  );
  return starts.length > 0 ? Math.min(...starts) : null;
}

function setUntil(run: Run, has: Model["has"]): void {
  const until = (run.now ?? 0) - (has("margin") ? MARGIN : 0);
  run.until = Math.min(until, (run.oldest ?? Number.MAX_SAFE_INTEGER) - 1);
}
