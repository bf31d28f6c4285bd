/** The ledger of the model: which rows a rollup covers, and the steps of the clock and of writers. */
import type { Model, Step } from "./model.ts";
import {
  type Held,
  isRental,
  LOOKBACK,
  MARGIN,
  NOT_HELD,
  none,
  type Row,
  START_TICK,
  type State,
  segmentOf,
  type Totals,
  type Version,
} from "./state.ts";

type Has = Model["has"];

/** Which rows a rollup holds: up to a watermark, and the rentals that it lists. */
export interface Cover {
  readonly watermark: number;
  readonly held: Held;
}

/** Whether a rollup holds a version of a row. */
export function isCovered(version: Version, row: number, cover: Cover, has: Has): boolean {
  const isWritten = version.recorded <= cover.watermark;
  if (!isRental(version)) return isWritten;
  if (version.end === null || (version.end > cover.watermark && has("ends wait"))) return false;
  return isWritten || isHeld(version, row, cover.held, has);
}

/** Whether this version of a rental is in the list. */
function isHeld({ end }: Version, row: number, held: Held, has: Has): boolean {
  return end === held[row] && has("list of rentals");
}

/** The list after some segments were compared: there, it has the covered rentals that end in them. */
export function listEnds(
  rows: readonly Row[],
  cover: Cover,
  touched: readonly boolean[],
  has: Has,
): Held {
  return rows.map(({ committed }, row) => {
    const held = cover.held[row] ?? NOT_HELD;
    const end = committed?.end ?? NOT_HELD;
    const covered = committed !== null && isCovered(committed, row, cover, has);
    if (covered && touched[segmentOf(end)]) return end;
    return end !== held && touched[segmentOf(held)] ? NOT_HELD : held;
  });
}

/** The list with the covered rentals that start in a segment, as a build writes it. */
export function listStarts(rows: readonly Row[], cover: Cover, segment: number, has: Has): Held {
  return rows.map(({ committed }, row) => {
    const held = cover.held[row] ?? NOT_HELD;
    if (!committed || !isRental(committed) || !isCovered(committed, row, cover, has)) return held;
    const listedBy = has("listed with its start") ? committed.start : (committed.end ?? 0);
    return segmentOf(listedBy) === segment ? (committed.end ?? held) : held;
  });
}

/** Where a row counts: at its start, and at its end. */
function instantsOf(version: Version): number[] {
  return isRental(version) ? [version.start, version.end ?? Infinity] : [version.start];
}

/** The sums of both segments over the committed rows that `accept` accepts. */
function sums(rows: readonly Row[], accept: (version: Version, row: number) => boolean): Totals[] {
  const segments = [none(rows), none(rows)];
  for (const [index, { committed }] of rows.entries()) {
    if (!committed || !accept(committed, index)) continue;
    for (const [at, instant] of instantsOf(committed).entries()) {
      const segment = segments[segmentOf(instant)];
      if (segment) segment[2 * index + at] = 1;
    }
  }
  return segments;
}

/** The sums of both segments over the covered rows. */
export function sumSegments(rows: readonly Row[], cover: Cover, has: Has): Totals[] {
  return sums(rows, (version, row) => isCovered(version, row, cover, has));
}

/** The part of it that was written, or ended, after an earlier watermark. */
export function sumFresh(rows: readonly Row[], since: number, cover: Cover, has: Has): Totals[] {
  const isFresh = ({ recorded, end }: Version) => recorded > since || (end ?? since) > since;
  return sums(rows, (version, row) => isFresh(version) && isCovered(version, row, cover, has));
}

/** The segments in which rows were recorded, or ended, since an earlier watermark or shortly before. */
export function touchedSegments(
  rows: readonly Row[],
  since: Cover,
  until: number,
  has: Has,
): boolean[] {
  const from = since.watermark - (has("lookback") ? LOOKBACK : 0);
  const isIn = (instant: number) => instant > from && instant <= until;
  const found = sums(rows, (version, row) => {
    if (version.end === null || isHeld(version, row, since.held, has)) return false;
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
