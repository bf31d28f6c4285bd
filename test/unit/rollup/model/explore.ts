/** Explores every interleaving of a scenario, breadth first, so that the first fault is a shortest. */
import { readBase } from "./answers.ts";
import { clockSteps, writerSteps } from "./ledger.ts";
import { type Model, PROPERTIES, type Property, type Scenario, type Step } from "./model.ts";
import { completeRun, violated } from "./properties.ts";
import { DONE, newRun, stepRun } from "./runs.ts";
import { START_TICK, type State } from "./state.ts";

/** The result of an exploration. */
export interface Exploration {
  /** The number of different states. */
  readonly states: number;
  /** The first property that was found violated. */
  readonly violated: Property | undefined;
  /** The steps that lead there, one a line, for people. */
  readonly trace: string;
}

/** More states than any scenario has. */
const MAX_STATES = 400_000;

/** Explores a scenario until a property is violated, or to its end. */
export function explore(model: Model): Exploration {
  const first = JSON.stringify(initialState(model));
  const reached = new Map<string, { from: string; name: string } | undefined>([[first, undefined]]);
  const traceTo = (text: string): string => {
    const lines: string[] = [];
    for (let at = text; ; ) {
      const step = reached.get(at);
      if (!step) return lines.reverse().join("\n");
      lines.push(step.name);
      at = step.from;
    }
  };
  // A Map iterates over the entries that are added meanwhile, too.
  for (const from of reached.keys()) {
    const before: State = JSON.parse(from);
    for (const { name, take } of stepsOf(model, before)) {
      const state: State = JSON.parse(from);
      take(state);
      const text = JSON.stringify(state);
      const isNew = !reached.has(text);
      if (isNew) reached.set(text, { from, name });
      const found = violated(model, before, state, isNew);
      if (found) {
        const trace = `${traceTo(from)}\n${name}\n=> ${text}`;
        return { states: reached.size, violated: found, trace };
      }
    }
    if (reached.size > MAX_STATES) throw new Error("too many states");
  }
  return { states: reached.size, violated: undefined, trace: "" };
}

function initialState(model: Model): State {
  const { rows, writers, runs, built } = model.scenario;
  const state: State = {
    now: START_TICK,
    jumped: "no",
    rows: rows.map((committed) => ({ committed, pending: null })),
    begun: writers.map(() => false),
    rollup: null,
    generations: {},
    runs: runs.map(newRun),
    cached: null,
    deleted: false,
  };
  if (built) completeRun(state, { scenario: model.scenario, has: () => true });
  return state;
}

function stepsOf(model: Model, state: State): Step[] {
  const { scenario, has } = model;
  const steps = [...clockSteps(model, state), ...writerSteps(model, state)];
  for (const [index, { step }] of state.runs.entries()) {
    if (step === DONE || isTwin(scenario, state, index)) continue;
    steps.push({
      name: `run ${index}: ${step}`,
      take: (next) => {
        const run = next.runs[index];
        if (!run) return;
        stepRun(next, run, scenario.runs[index] ?? {}, model);
        // Nothing that a finished run has read matters any more.
        if (run.step === DONE) next.runs[index] = { step: DONE, until: 0 };
      },
    });
  }
  if (scenario.cache && !state.cached) {
    steps.push({
      name: "a reader caches the totals",
      take: (next) => {
        next.cached = readBase(next, has);
      },
    });
  }
  if (scenario.deletion && !state.deleted && state.rollup) {
    steps.push({
      name: "somebody deletes the row of rollups",
      take: (next) => {
        next.rollup = null;
        next.deleted = true;
      },
    });
  }
  return steps;
}

/** Whether a run has not begun, nor the one before it with the same options: either may be first. */
function isTwin({ runs }: Scenario, state: State, index: number): boolean {
  const { step: first } = newRun();
  if (index === 0 || state.runs[index]?.step !== first) return false;
  const twins = JSON.stringify(runs[index]) === JSON.stringify(runs[index - 1]);
  return twins && state.runs[index - 1]?.step === first;
}

/** Formats a fault for people: the title, the property and the shortest way to it. */
export function formatFault({ violated: property, trace }: Exploration, title: string): string {
  if (!property) return `${title}: no fault`;
  return `${title}: violated: ${PROPERTIES[property]}. The shortest trace:\n${trace}`;
}
