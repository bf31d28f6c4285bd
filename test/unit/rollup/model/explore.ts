/** Explores every interleaving of a scenario, breadth first, so that the first fault is a shortest. */
import { cacheable } from "./answers.ts";
import {
  type Change,
  copyOf,
  type Event,
  type Has,
  MARGIN,
  type Model,
  PROPERTIES,
  type Property,
  type Rollup,
  START_TICK,
  type State,
} from "./model.ts";
import { violated } from "./properties.ts";
import { completeRun, newRun, rollupOf, stepRun } from "./runs.ts";

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

/** Explores a scenario until a property is violated, or to its end. */
export function explore(model: Model): Exploration {
  const first = initialState(model);
  const keysOf = (state: State) => textOf(model, first, state);
  /** What properties can see of the states so far, and the step that led to each state. */
  const seen = new Set<string>();
  const reached = new Map([[`${keysOf(first)}`, { from: "", name: "" }]]);
  for (let states = [{ state: first, from: `${keysOf(first)}` }]; states.length > 0; ) {
    const next: typeof states = [];
    for (const { state: before, from } of states) {
      for (const { name, take } of stepsOf(model, first, before)) {
        const state = copyOf(before);
        const detail = take(state);
        const [visible = "", hidden] = keysOf(state);
        const key = `${visible},${hidden}`;
        if (reached.has(key)) continue;
        reached.set(key, { from, name: [name, detail].filter(Boolean).join(" ") });
        next.push({ state, from: key });
        const found = seen.has(visible) ? undefined : violated(model, state);
        seen.add(visible);
        if (!found) continue;
        const lines: string[] = [];
        for (let at = key, step = reached.get(at); step?.from; step = reached.get(at)) {
          lines.unshift(step.name);
          at = step.from;
        }
        const fault = [`violated: ${PROPERTIES[found]}`, ...lines, `=> ${key}`].join("\n");
        return { states: reached.size, violated: found, fault };
      }
    }
    states = next;
  }
  return { states: reached.size, violated: undefined, fault: "" };
}

/**
 * A state as text: what properties see of it, and the rest. States with the same text go on alike: of versions it
 * tells only which are stored, or may be restored, and of runs with the same options not which is which.
 */
function textOf({ scenario, has }: Model, first: State, state: State): readonly [string, string] {
  const { runs, begun, happened, jumped, versions, ...seen } = state;
  const { current, building, cached } = seen;
  const mayRestore = scenario.once?.includes(RESTORE) && !happened.includes(RESTORE);
  const restored = mayRestore ? first.current?.version : undefined;
  const known = <Of extends Pick<Change, "version">>(of: Of | null, rollup: Rollup | null) => {
    const version = [of?.version === rollup?.version, of?.version === restored];
    return of && (has("new version") ? { ...of, version } : of);
  };
  const changes = runs.map(({ change, ...run }) => {
    const rollup = change && rollupOf(change.kind, state);
    // Where there was none, there may be none again.
    const isGone = change?.version !== undefined && change.version !== rollup?.version;
    const isWritten = !isGone || mayRestore || !has("same version");
    return JSON.stringify({ ...run, change: isWritten ? known(change, rollup) : "never written" });
  });
  const areAlike = scenario.runs.every(({ check, rebuild }) => {
    return check === scenario.runs[0]?.check && rebuild === scenario.runs[0]?.rebuild;
  });
  return [
    JSON.stringify({
      ...seen,
      current: known(current, current),
      building: known(building, building),
      cached: known(cached, current),
      versions: has("new version") ? 0 : versions,
    }),
    JSON.stringify([areAlike ? changes.sort() : changes, begun, happened.toSorted(), jumped]),
  ];
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
    quarters: [[], []],
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

const RESTORE = "restores the database";
const EVENTS: Readonly<Record<Event, (state: State, first: State, has: Has) => unknown>> = {
  "caches the sums": (state, _, has) => Object.assign(state, { cached: cacheable(state, has) }),
  "deletes the rows of rollups": (state) => Object.assign(state, { current: null, building: null }),
  "changes a quarter hour": ({ quarters, current }) => {
    const first = quarters[current?.slot ?? 0][0];
    if (first) first[1] = first[1].map((count) => count + 1);
  },
  [RESTORE]: (state, { rows, current, building, slots, quarters, versions }, has) => {
    // It ends all transactions, and the runs that were at work.
    const runs = state.runs.map((run) => (run.step === "begin" ? run : newRun("done")));
    Object.assign(state, copyOf({ ...state, rows, current, building, slots, quarters }), { runs });
    if (!has("new version")) state.versions = versions;
  },
};

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
