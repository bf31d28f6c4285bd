/** Explores every interleaving of a scenario, breadth first, so that the first fault is a shortest. */
import { cacheable } from "./answers.ts";
import {
  copyOf,
  type Event,
  type Has,
  MARGIN,
  type Model,
  PROPERTIES,
  type Property,
  START_TICK,
  type State,
  type Whole,
} from "./model.ts";
import { violated } from "./properties.ts";
import { completeRun, newRun, stepRun } from "./runs.ts";

/** The result of an exploration. */
export interface Exploration {
  /** The number of different states. */
  readonly states: number;
  /** The first property that was found violated. */
  readonly violated: Property | undefined;
  /** The property and the steps that lead there, one a line, for people. */
  readonly fault: string;
}

/** A step that can be taken. `take` changes the state, and may say more about it. */
interface Step {
  readonly name: string;
  readonly take: (state: State) => unknown;
}

/** More states than any scenario has. */
const MAX_STATES = 400_000;

/** Explores a scenario until a property is violated, or to its end. */
export function explore(model: Model): Exploration {
  const first = initialState(model);
  const reached = new Map([[JSON.stringify(first), { state: first, from: "", name: "" }]]);
  // A Map iterates over the entries that are added meanwhile, too.
  for (const [from, { state: before }] of reached) {
    for (const { name, take } of stepsOf(model, first, before)) {
      const state = copyOf(before);
      const detail = take(state);
      const text = JSON.stringify(state);
      if (reached.has(text)) continue;
      reached.set(text, { state, from, name: [name, detail].filter(Boolean).join(" ") });
      const found = violated(model, state);
      if (!found) continue;
      const lines: string[] = [];
      for (let at = text, step = reached.get(at); step?.from; step = reached.get(at)) {
        lines.unshift(step.name);
        at = step.from;
      }
      const fault = [`violated: ${PROPERTIES[found]}`, ...lines, `=> ${text}`].join("\n");
      return { states: reached.size, violated: found, fault };
    }
    if (reached.size > MAX_STATES) throw new Error("too many states");
  }
  return { states: reached.size, violated: undefined, fault: "" };
}

function initialState({ scenario }: Model): State {
  const state: State = {
    now: START_TICK,
    jumped: "no",
    rows: scenario.rows.map((committed) => ({ committed, pending: null })),
    begun: scenario.writers.map(() => false),
    current: null,
    building: null,
    slots: [[], []],
    whole: [
      { quarters: [], days: [] },
      { quarters: [], days: [] },
    ],
    runs: scenario.runs.map(() => newRun()),
    smallUpTo: -1,
    versions: 0,
    cached: null,
    happened: [],
    reported: false,
  };
  const ofAnySize = { ...scenario, minRows: 0 };
  if (scenario.built) completeRun(state, {}, { scenario: ofAnySize, has: () => true });
  return state;
}

function stepsOf(model: Model, first: State, state: State): Step[] {
  const { scenario, has } = model;
  const steps = [...clockSteps(model, state), ...writerSteps(model, state)];
  for (const [index, options] of scenario.runs.entries()) {
    if (state.runs[index]?.step === "done") continue;
    const take = (next: State) => {
      const run = next.runs[index];
      return run && stepRun(next, run, options, model);
    };
    steps.push({ name: `run ${index}`, take });
  }
  for (const event of scenario.once ?? []) {
    if (state.happened.includes(event)) continue;
    const take = (next: State) => {
      next.happened.push(event);
      EVENTS[event](next, first, has);
    };
    steps.push({ name: `somebody ${event}`, take });
  }
  return steps;
}

const EVENTS: Readonly<Record<Event, (state: State, first: State, has: Has) => unknown>> = {
  "caches the sums": (state, _, has) => Object.assign(state, { cached: cacheable(state, has) }),
  "deletes the rows of rollups": (state) => Object.assign(state, { current: null, building: null }),
  "changes a quarter hour": (state) => changeFirst(state, "quarters"),
  "changes a day": (state) => changeFirst(state, "days"),
  "restores the database": (state, { rows, current, building, slots, whole, versions }, has) => {
    // It ends all transactions, and the runs that were at work.
    const runs = state.runs.map((run) => (run.step === "begin" ? run : newRun("done")));
    Object.assign(state, copyOf({ ...state, rows, current, building, slots, whole }), { runs });
    if (!has("new version")) state.versions = versions;
  },
};

/** Adds to the first row. */
function changeFirst({ whole, current }: State, kind: keyof Whole): void {
  const first = whole[current?.slot ?? 0][kind][0];
  if (first) first[1] = first[1].map((count) => count + 1);
}

/** The steps that the clock can take: a tick, or a jump. */
function clockSteps({ scenario }: Model, { now, jumped, rows }: State): Step[] {
  const { jump = 0, ticks, writers } = scenario;
  const steps: Step[] = [];
  // A writer that keeps to the margin commits before the clock may advance.
  const waits = rows.some(({ pending }) => {
    const keeps = pending && writers[pending.writer]?.open === "within margin";
    return keeps && jumped === "no" && now + 1 - pending.began >= MARGIN;
  });
  const elapsed = now - START_TICK - (jumped === "forward" ? jump : 0);
  if (elapsed < ticks && !waits) {
    steps.push({ name: `the clock advances to ${now + 1}`, take: (next) => void next.now++ });
  }
  const jumpTo = (to: number, name: "forward" | "back") => {
    const take = (next: State) => void Object.assign(next, { now: to, jumped: name });
    steps.push({ name: `the clock jumps ${name} to ${to}`, take });
  };
  if (jump > 0 && jumped === "no") jumpTo(now + jump, "forward");
  if (jumped === "forward") jumpTo(now - jump, "back");
  return steps;
}

/** The steps that writers can take. A row that is being written is locked. */
function writerSteps({ scenario }: Model, { begun, rows, now }: State): Step[] {
  const steps: Step[] = [];
  for (const [writer, { row, write, late = 0, when = () => true }] of scenario.writers.entries()) {
    const { committed = null, pending = null } = rows[row] ?? {};
    if (!begun[writer] && !pending && when(committed, now)) {
      const version = write(now - late);
      const take = (next: State) => {
        next.begun[writer] = true;
        next.rows[row] = { committed, pending: { version, began: now, writer } };
      };
      steps.push({ name: `writer ${writer} writes row ${row}: ${JSON.stringify(version)}`, take });
    } else if (pending?.writer === writer) {
      const take = (next: State) => {
        next.rows[row] = { committed: pending.version, pending: null };
      };
      steps.push({ name: `writer ${writer} commits`, take });
    }
  }
  return steps;
}
