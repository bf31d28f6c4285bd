/** Builds in the model: a new generation, segment by segment, and the purge of the old one. */
import { chargesOf } from "./changes.ts";
import { listStarts, sumSegments } from "./ledger.ts";
import type { Model } from "./model.ts";
import { none, noneHeld, plus, type RollupRow, type Run, type State } from "./state.ts";

/** Begins a build, or resumes the one in progress, as beginBuild and buildProvider do. */
export function beginBuild(
  state: State,
  run: Run,
  version: RollupRow,
  rebuild: boolean,
  has: Model["has"],
): void {
  const { generation, building, ahead } = run.found ?? {
    ...{ generation: 0, building: false, ahead: false },
  };
  const inProgress = version.build;
  const isAhead = (inProgress?.watermark ?? 0) > (run.now ?? 0) && has("restart if ahead");
  if (ahead && !building) run.reported = true;
  // Another run has built it since.
  if (version.generation > generation && !rebuild) {
    run.build = { generation: version.generation, watermark: version.watermark };
    return;
  }
  if (inProgress && !rebuild && !isAhead) {
    run.build = { ...inProgress };
    return;
  }
  const used = Object.keys(state.generations).map(Number);
  const last = Math.max(version.generation, inProgress?.generation ?? 0, ...used);
  const build = { generation: last + 1, watermark: run.until };
  state.rollup = { ...version, build };
  if (!has("build beside")) {
    state.rollup = { ...state.rollup, generation: build.generation, watermark: build.watermark };
  }
  run.build = { ...build };
}

/** Adds up the next segment of a build, in a snapshot. */
export function computeSegment(state: State, run: Run, has: Model["has"]): void {
  const { rows, generations } = state;
  const { generation, watermark } = run.build ?? { generation: 0, watermark: 0 };
  const checkpoints = generations[generation]?.checkpoints ?? [];
  const index = checkpoints.length;
  const held = generations[generation]?.held ?? noneHeld(rows);
  const cover = { watermark: has("fixed watermark") ? watermark : run.until, held };
  const sums = sumSegments(rows, cover, has);
  const sum = sums[index] ?? none(rows);
  const totals = plus(checkpoints[index - 1] ?? none(rows), sum);
  const list = listStarts(rows, cover, index, has);
  run.segment = { index, totals, charges: chargesOf(sum, rows), list };
}

/** Writes it, unless another run did. Returns whether there is more to build. */
export function writeSegment(state: State, run: Run, has: Model["has"]): boolean {
  const { build, segment } = run;
  delete run.segment;
  if (!build || !segment || segment.index > 1) return false;
  const { generation } = build;
  const inProgress = state.rollup?.build;
  if (inProgress?.generation !== generation && has("build compares generation")) return false;
  if (inProgress && inProgress.watermark !== build.watermark && has("build compares watermark")) {
    return false;
  }
  const { rows } = state;
  const empty = { checkpoints: [], month: none(rows), held: noneHeld(rows) };
  const target = state.generations[generation] ?? empty;
  state.generations[generation] = target;
  if (target.checkpoints.length !== segment.index && has("build compares checkpoint")) return true;
  target.checkpoints[segment.index] = segment.totals;
  target.month = plus(target.month, segment.charges);
  target.held = segment.list;
  if (segment.index === 0) return true;
  const watermark = has("fixed watermark") ? build.watermark : run.until;
  const revision = (state.rollup?.revision ?? 0) + 1;
  state.rollup = { ...state.rollup, generation, watermark, revision, build: null };
  return false;
}

/** Deletes the generations before the current one. */
export function purge({ generations, rollup }: State): void {
  for (const generation of Object.keys(generations).map(Number)) {
    if (generation < (rollup?.generation ?? 0)) delete generations[generation];
  }
}
