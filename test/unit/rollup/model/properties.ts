/** What is asserted of every state of the model, and of every step. */
import {
  cachedAnswers,
  expectedAnswers,
  fullAnswers,
  tornAnswers,
  usedIdentity,
} from "./answers.ts";
import type { Model, Property } from "./model.ts";
import { DONE, newRun, stepRun } from "./runs.ts";
import { LOOKBACK, type State } from "./state.ts";

/** The first property that a step violates, or the state that it leads to if that is new. */
export function violated(
  model: Model,
  before: State,
  state: State,
  isNew: boolean,
): Property | undefined {
  return model.scenario.properties.find((property) => {
    if (property === "never back") return movedBack(before, state);
    return isNew && !HOLDS[property](state, model);
  });
}

function movedBack({ rollup: before }: State, { rollup: after }: State): boolean {
  if (!before || !after) return false;
  if (before.generation !== after.generation) return after.generation < before.generation;
  return after.watermark < before.watermark;
}

const HOLDS: Readonly<
  Record<Exclude<Property, "never back">, (state: State, model: Model) => boolean>
> = {
  exact: (state, model) => isExact(state, model) && isExactInTwoSnapshots(state, model),
  "exact while ahead": (state, model) => !isAhead(state) || isExact(state, model),
  "equal with cache": (state, { has }) => {
    if (!state.cached) return true;
    return same(cachedAnswers(state, state.cached, has), fullAnswers(state, has));
  },
  "never trusted ahead": (state, { has }) =>
    usedIdentity(state, !has("distrust")).watermark <= state.now,
  once: ({ rollup, generations }) => {
    const { checkpoints = [], month = [] } = generations[rollup?.generation ?? 0] ?? {};
    return [...checkpoints, month].flat().every((count) => count === 0 || count === 1);
  },
  healed: (state, model) => {
    const { healed } = heal(state, model);
    return isExact(healed, model) && !isAhead(healed);
  },
  reported: (state, model) => {
    if (isExact(state, model)) return true;
    const { healed, reported } = heal(state, model);
    return reported || !isExact(healed, model);
  },
  "refresh finds late rows": (state, model) => {
    const isTooLate = state.rows.some(({ committed }) => {
      return committed && committed.recorded <= (state.rollup?.watermark ?? 0) - LOOKBACK;
    });
    if (isTooLate) return true;
    const refreshed: State = JSON.parse(JSON.stringify(state));
    completeRun(refreshed, model, false);
    const moved = refreshed.rollup?.watermark !== state.rollup?.watermark;
    return !moved || isExact(refreshed, model);
  },
};

function isExact(state: State, { has }: Model): boolean {
  return same(fullAnswers(state, has), expectedAnswers(state));
}

/** Whether answers may read their totals earlier than their rows: only without the cure. */
function isExactInTwoSnapshots(state: State, { has }: Model): boolean {
  if (has("one snapshot of an answer") || !state.cached) return true;
  return same(tornAnswers(state, state.cached, has), expectedAnswers(state));
}

function isAhead({ rollup, now }: State): boolean {
  return rollup !== null && rollup.watermark > now;
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

interface Healed {
  readonly healed: State;
  /** Whether the run reported a repair. */
  readonly reported: boolean;
}

/** What `heal` found, because two properties ask for it. */
const HEALED = new WeakMap<State, Healed>();

/** The state after one more run, undisturbed. */
function heal(state: State, model: Model): Healed {
  const known = HEALED.get(state);
  if (known) return known;
  const healed: State = JSON.parse(JSON.stringify(state));
  const found = { healed, reported: completeRun(healed, model) };
  HEALED.set(state, found);
  return found;
}

/** Does a whole run. Changes the state. Returns whether it reported a repair. */
export function completeRun(state: State, model: Model, check = true): boolean {
  const run = newRun();
  while (run.step !== DONE) stepRun(state, run, { check }, model);
  return run.reported ?? false;
}
