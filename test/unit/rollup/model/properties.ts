/** What is asserted of every state of the model. */
import {
  type Answers,
  cachedAnswers,
  expectedAnswers,
  fullAnswers,
  quartersAddUp,
} from "./answers.ts";
import { copyOf, MARGIN, type Model, type Property, type State } from "./model.ts";
import { completeRun } from "./runs.ts";

/** The first property of the scenario that a state violates. */
export function violated(model: Model, state: State): Property | undefined {
  return model.scenario.properties.find((property) => !HOLDS[property](state, model));
}

const HOLDS: Readonly<Record<Property, (state: State, model: Model) => boolean>> = {
  exact: isExact,
  "exact while ahead": (state, model) => !isAhead(state) || isExact(state, model),
  "equal with cache": (state, { has }) => {
    if (!state.cached) return true;
    return same(cachedAnswers(state, state.cached, has), fullAnswers(state, has));
  },
  once: ({ current, slots }) => {
    const counts = current ? slots[current.slot].flatMap(([, totals]) => totals) : [];
    return counts.every((count) => count === 0 || count === 1);
  },
  healed: (state, model) => {
    const healed = afterRun(state, model, true);
    return isExact(healed, model) && !isAhead(healed) && quartersAddUp(healed);
  },
  reported: (state, model) => {
    if (state.reported || isExact(state, model)) return true;
    const healed = afterRun(state, model, true);
    return healed.reported || !isExact(healed, model);
  },
  "no false alarm": ({ reported }) => !reported,
  built: (state, model) => {
    const { minRows = 0, writers } = model.scenario;
    const settled = state.rows.filter(({ committed }) => {
      return committed && committed.recorded <= state.now - MARGIN;
    });
    const isOpen = state.rows.some(({ pending }) => pending && writers[pending.writer]);
    if (isOpen || settled.length < minRows) return true;
    return afterRun(state, model, false).current !== null;
  },
};

function isExact(state: State, { has }: Model): boolean {
  return same(fullAnswers(state, has), expectedAnswers(state));
}

function isAhead({ current, now }: State): boolean {
  return current !== null && current.watermark > now;
}

function same(left: Answers, right: Answers): boolean {
  return left.every((counts, period) => {
    return counts.every((count, row) => count === right[period]?.[row]);
  });
}

/** The state after one more run, undisturbed. */
function afterRun(state: State, model: Model, check: boolean): State {
  const after = copyOf(state);
  completeRun(after, { check }, model);
  return after;
}
