/**
 * The states of a build, and which may follow on which. The table stores a state as the event time at which the next
 * step begins (`next_from`), so a build that was killed goes on where it was.
 *
 * - begun, at the first instant: its watermark stays from now on. A step deletes what is left in its slot, if anything
 *   is; the next one adds the first leaves.
 * - filling, in between: each step adds the leaves from there to where the next one begins, in one short transaction.
 * - complete, at the last instant: a refresh, and it becomes current; or it begins anew, if its rows were changed.
 * - current: it is the rollup that is read. Its checks go on from slice to slice in the same column.
 *
 * It may begin anew from any state: for a rebuild, a watermark ahead of the clock, or because a program of another
 * format began to delete it.
 */
import assert from "node:assert";
import { FIRST_INSTANT, LAST_INSTANT } from "../../db/datetime.ts";
import type { Rollup } from "./state.ts";

/** A state of a build. */
export type BuildState = "begun" | "filling" | "complete" | "current";

const MAY_FOLLOW: Readonly<Record<BuildState, readonly BuildState[]>> = {
  begun: ["begun", "filling", "complete"],
  filling: ["begun", "filling", "complete"],
  complete: ["begun", "current"],
  current: [],
};

/** The state of a rollup. */
export function stateOf({ building, nextFrom }: Pick<Rollup, "building" | "nextFrom">): BuildState {
  if (!building) return "current";
  if (nextFrom === FIRST_INSTANT) return "begun";
  return nextFrom === LAST_INSTANT ? "complete" : "filling";
}

/** The columns of a build that moves on to where its next step begins; that of the first slice of a check by default. */
export function movedTo(build: Rollup, state: BuildState, nextFrom: string = FIRST_INSTANT) {
  const before = stateOf(build);
  assert(MAY_FOLLOW[before].includes(state), `a build that is ${before} becomes ${state}`);
  assert(
    state === "begun" || state === "current" || nextFrom > build.nextFrom,
    "no step goes back",
  );
  return { building: state === "current" ? 0 : 1, next_from: nextFrom };
}
