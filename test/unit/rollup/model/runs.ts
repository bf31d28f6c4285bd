/** The steps of a run: each is one snapshot or one short transaction. */
import {
  BOUNDARIES,
  type Change,
  MARGIN,
  type Model,
  type Rollup,
  type Run,
  type RunOptions,
  type State,
} from "./model.ts";
import {
  addDifferences,
  addTo,
  compare,
  compareQuarters,
  isCovered,
  leavesWithNews,
} from "./sums.ts";

/** Where a build begins, where its second step does, and where it is complete. */
const [FIRST, SECOND, COMPLETE] = [0, BOUNDARIES[0], 99];

/** A run that has not begun, or one that is over. */
export function newRun(step: "begin" | "done" = "begin"): Run {
  const none = { change: null, slots: null };
  return { step, until: 99, large: false, begun: false, checked: false, ...none };
}

/** Takes the next step of a run of this state. Returns what it did. */
export function stepRun(state: State, run: Run, options: RunOptions, model: Model): string {
  if (run.step === "compute") return computeChange(state, run, options, model);
  if (run.step === "write") return writeChange(state, run, model);
  return readClock(state, run, model);
}

/** Does a whole run, undisturbed. */
export function completeRun(state: State, options: RunOptions, model: Model): void {
  const run = newRun();
  while (run.step !== "done") stepRun(state, run, options, model);
}

/** Reads the clock or, if the account sees transactions, the one of the two that comes next. */
function readClock({ rows, now }: State, run: Run, { scenario, has }: Model): string {
  const visible = scenario.writers.map(({ open }) => open === "visible");
  const sees = visible.includes(true);
  const isFirst = run.step === "begin";
  const before = has("margin of the oldest") ? MARGIN : 1;
  const limits = rows.flatMap(({ pending }) =>
    has("waiting") && pending && visible[pending.writer] ? [pending.began - before] : [],
  );
  const isClock = !sees || isFirst === has("clock first");
  const limit = isClock ? now - (has("margin") ? MARGIN : 0) : Math.min(...limits);
  run.until = Math.min(run.until, limit);
  run.step = sees && isFirst ? "look" : "compute";
  return isClock ? `reads the clock: ${now}` : "reads the open transactions";
}

/** What a change is made of: the rollup that is read, or the build. */
export function rollupOf(kind: Change["kind"], { current, building }: State): Rollup | null {
  return kind === "refresh" || kind === "check" ? current : building;
}

/** Finds what to do next, and computes it in a snapshot. */
function computeChange(state: State, run: Run, options: RunOptions, model: Model): string {
  const { has } = model;
  const { rows, current, building, now } = state;
  if (!has("one snapshot") && !run.slots) {
    run.slots = state.slots;
    return "reads the sums";
  }
  const slots = run.slots ?? state.slots;
  run.slots = null;
  const isAhead = (rollup: Rollup | null) =>
    rollup !== null && rollup.watermark > now && has("not ahead");
  const plan = (
    kind: Change["kind"],
    watermark: number,
    leaves: readonly number[] = [],
    next = COMPLETE,
  ) => {
    const rollup = rollupOf(kind, state);
    const compareRows = (of: typeof rows, sums = slots[rollup?.slot ?? 0]) =>
      compare(of, sums, watermark, leaves, has);
    const differences = compareRows(rows);
    const fresh = rows.map(({ committed, pending }) => {
      const wasCovered = committed && rollup && isCovered(committed, rollup.watermark, has);
      return { committed: wasCovered ? null : committed, pending };
    });
    // Without an error, the rows that became covered explain all differences.
    const isExplained = String(differences) === String(compareRows(fresh, []));
    const stored = state.quarters[rollup?.slot ?? 0];
    const quarters = compareQuarters(rows, stored, watermark, leaves, has);
    if (kind === "check" && differences.length + quarters.length === 0)
      return "finds no difference";
    const isWrong = !isExplained || (kind === "check" && quarters.length > 0);
    const isNew = kind === "begin" || kind === "build" || kind === "swap";
    const repairs = isNew ? kind === "begin" && isAhead(current) : isWrong;
    run.change = {
      kind,
      version: rollup?.version,
      watermark,
      differences,
      quarters,
      next,
      repairs,
    };
    run.step = "write";
    return `computes: ${kind}`;
  };
  if (current && !isAhead(current)) {
    const news = leavesWithNews(rows, current.watermark, run.until, has);
    if (news.length > 0) return plan("refresh", run.until, news);
  }
  if (building && (run.begun || !options.rebuild)) {
    const { next } = building;
    // The watermark may go back here: each rollup is exact at its own.
    if (next === COMPLETE) return plan("swap", building.watermark);
    const watermark = has("one watermark") ? building.watermark : run.until;
    if (next === FIRST) return plan("build", watermark, BOUNDARIES.slice(0, 1), SECOND);
    return plan("build", watermark, BOUNDARIES.slice(1));
  }
  if (!current && !building && !run.begun && !run.large) return countRows(state, run, model);
  if (!run.begun && (!current || isAhead(current) || options.rebuild)) {
    run.begun = true;
    return plan("begin", run.until);
  }
  if (current && !isAhead(current) && options.check && !run.checked && has("check")) {
    run.checked = true;
    return plan("check", current.watermark, BOUNDARIES);
  }
  Object.assign(run, newRun("done"));
  return "is done";
}

/** Counts the rows of a provider without a rollup, unless it is known that they are too few. */
function countRows(state: State, run: Run, { scenario, has }: Model): string {
  const recorded = state.rows.flatMap(({ committed }) => committed?.recorded ?? []);
  const counted = recorded.filter((at) => at <= run.until);
  const isKnown = state.smallUpTo >= Math.max(0, ...counted);
  run.large = !isKnown && counted.length >= (scenario.minRows ?? 0);
  if (run.large) return "counts enough rows";
  if (!isKnown) state.smallUpTo = has("counted by watermark") ? run.until : state.now;
  Object.assign(run, newRun("done"));
  return "leaves a small provider without a rollup";
}

/** Writes it, unless the rollup has changed since. */
function writeChange(state: State, run: Run, { has }: Model): string {
  const { change } = run;
  if (!change) throw new Error("there is nothing to write");
  run.change = null;
  run.step = "compute";
  const { kind, watermark, next } = change;
  const target = rollupOf(kind, state);
  if (target?.version !== change.version && has("same version")) {
    return `finds another version: no ${kind}`;
  }
  if (change.repairs) state.reported = true;
  const version = ++state.versions;
  if (kind === "begin") {
    const used = state.current?.slot;
    const slot = has("own slot") ? (used === 0 ? 1 : 0) : (used ?? 0);
    // What an earlier build left in the slot is compared, too.
    state.building = { slot, version, watermark, next: FIRST };
  }
  if (target && kind !== "begin") {
    addDifferences(state.slots[target.slot], change.differences);
    for (const quarter of change.quarters) addTo(state.quarters[target.slot], quarter);
    Object.assign(target, { version, watermark, next });
    if (kind === "swap") Object.assign(state, { current: target, building: null });
  }
  return `writes: ${kind}`;
}
