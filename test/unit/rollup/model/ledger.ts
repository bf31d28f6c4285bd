/** The ledger of the model: which rows a rollup covers, and the steps of the clock and of writers. */
import type { Model, Step } from "./model.ts";
import {
  isRental,
  LOOKBACK,
  MARGIN,
  none,
  type Row,
  START_TICK,
  type State,
  segmentOf,
  type Totals,
  type Version,
} from "./state.ts";

type Has = Model["has"];

/** Whether a rollup with this watermark holds a row. */
export function isCovered(version: Version, watermark: number, has: Has): boolean {
  if (version.recorded > watermark) return false;
  if (!isRental(version)) return true;
  return version.end !== null && (version.end <= watermark || !has("ends wait"));
}

/** Where a row counts: at its start, and at its end. */
function instantsOf(version: Version): number[] {
  return isRental(version) ? [version.start, version.end ?? Infinity] : [version.start];
}

/** The sums of both segments over the committed rows that `accept` accepts. */
function sums(rows: readonly Row[], accept: (version: Version) => boolean): Totals[] {
  const segments = [none(rows), none(rows)];
  for (const [index, { committed }] of rows.entries()) {
    if (!committed || !accept(committed)) continue;
    for (const [at, instant] of instantsOf(committed).entries()) {
      const segment = segments[segmentOf(instant)];
      if (segment) segment[2 * index + at] = 1;
    }
  }
  return segments;
}

/** The sums of both segments over the covered rows. */
export function sumSegments(rows: readonly Row[], watermark: number, has: Has): Totals[] {
  return sums(rows, (version) => isCovered(version, watermark, has));
}

/** The part of it that was written, or ended, after an earlier watermark. */
export function sumFresh(rows: readonly Row[], since: number, until: number, has: Has): Totals[] {
  const isFresh = ({ recorded, end }: Version) => recorded > since || (end ?? since) > since;
  return sums(rows, (version) => isFresh(version) && isCovered(version, until, has));
}

/** The segments in which rows were recorded, or ended, between two watermarks or shortly before. */
export function touchedSegments(
  rows: readonly Row[],
  since: number,
  until: number,
  has: Has,
): boolean[] {
  const from = since - (has("lookback") ? LOOKBACK : 0);
  const isIn = (instant: number) => instant > from && instant <= until;
  const found = sums(rows, (version) => {
    if (version.end === null) return false;
    return isIn(version.recorded) || (version.end !== undefined && isIn(version.end));
  });
  return found.map((totals) => totals.some((count) => count > 0));
}

/** The steps that the clock can take: a tick, or a jump. */
export function clockSteps({ scenario }: Model, state: State): Step[] {
  const { now, rows, jumped } = state;
  const { jump = 0, ticks, writers } = scenario;
  const steps: Step[] = [];
  // A writer that keeps to the margin commits before the clock may advance.
  const waits = rows.some(({ pending }) => {
    const open = pending && writers[pending.writer]?.open === "within margin";
    const recorded = pending?.version?.recorded ?? pending?.began ?? 0;
    return open && jumped === "no" && now + 1 - recorded >= MARGIN;
  });
  const elapsed = now - START_TICK - (jumped === "forward" ? jump : 0);
  if (elapsed < ticks && !waits) {
    steps.push({ name: `the clock advances to ${now + 1}`, take: (next) => void next.now++ });
  }
  const jumpBy = (by: number, name: "forward" | "back") =>
    steps.push({
      name: `the clock jumps ${name} to ${now + by}`,
      take: (next) => {
        next.now += by;
        next.jumped = name;
      },
    });
  if (jump > 0 && jumped === "no") jumpBy(jump, "forward");
  if (jumped === "forward") jumpBy(-jump, "back");
  return steps;
}

/** The steps that writers can take. A row that is being written is locked. */
export function writerSteps({ scenario }: Model, state: State): Step[] {
  const steps: Step[] = [];
  for (const [index, writer] of scenario.writers.entries()) {
    const { committed, pending } = state.rows[writer.row] ?? { committed: null, pending: null };
    if (!state.begun[index]) {
      if (pending || !(writer.when?.(committed, state.now) ?? true)) continue;
      const recorded = state.now - (writer.lag ?? 0);
      const version = writer.write(recorded, committed);
      steps.push({
        name: `writer ${index} writes row ${writer.row} as ${JSON.stringify(version)}`,
        take: (next) => {
          next.begun[index] = true;
          const row = next.rows[writer.row];
          if (row) row.pending = { version, began: state.now, writer: index };
        },
      });
    } else if (pending?.writer === index) {
      steps.push({
        name: `writer ${index} commits`,
        take: ({ rows }) => {
          rows[writer.row] = { committed: pending.version, pending: null };
        },
      });
    }
  }
  return steps;
}
