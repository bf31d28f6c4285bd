/** Answers in the model, with and without cached sums, and what the ledger says. */
import type { Has, Rollup, Row, State, Sums, Version } from "./model.ts";
import { countIn, datesOf, isCovered, sumsAt } from "./sums.ts";

/** Both ends included: all of time, a leaf, with a head, with a tail, and no boundary in it. */
const PERIODS = [
  { start: 0, end: 99 },
  { start: 4, end: 7 },
  { start: 2, end: 99 },
  { start: 0, end: 9 },
  { start: 5, end: 5 },
];
type Period = (typeof PERIODS)[number];

/** Days of any zone: they begin and end with quarter hours. */
const DAYS = [
  { from: 0, to: 4 },
  { from: 6, to: 10 },
] as const;

/** For each period and each day, how often each row was counted: in days, charges alone. */
export type Answers = readonly (readonly number[])[];

/** What the ledger says. */
export function expectedAnswers({ rows, now }: State): Answers {
  const periods = PERIODS.map(({ start, end }) =>
    rows.map(({ committed }) => {
      return committed && overlaps(committed, { start, end: Math.min(end, now) }) ? 1 : 0;
    }),
  );
  return [...periods, ...DAYS.map((day) => rows.map((row) => countRaw(row, day, now)))];
}

/** How often the ledger has a row as a charge of a day. */
function countRaw({ committed }: Row, { from, to }: (typeof DAYS)[number], now: number): number {
  if (!committed || committed.end !== undefined || committed.start > now) return 0;
  return committed.start >= from && committed.start < to ? 1 : 0;
}

/** The answers of days: from the quarter hours if these add up, and what is not covered. */
function answersOfDays(state: State, has: Has): Answers {
  const { rows, now } = state;
  const rollup = usedRollup(state, has);
  const uses = rollup !== null && (!has("adds up") || quartersAddUp(state));
  return DAYS.map((day) =>
    rows.map((row, nth) => {
      if (!uses) return countRaw(row, day, now);
      const isRaw = row.committed !== null && !isCovered(row.committed, rollup.watermark, has);
      const stored = countIn(state.quarters[rollup.slot], day.from, day.to, nth);
      return stored + (isRaw ? countRaw(row, day, now) : 0);
    }),
  );
}

/** Whether quarter hours add up to what owners have of charges, in the rollup that is read. */
export function quartersAddUp({ rows, current, quarters, slots }: State): boolean {
  if (current === null) return true;
  const all = slots[current.slot].at(-1)?.[1] ?? [];
  return rows.every(({ committed }, row) => {
    const count = countIn(quarters[current.slot], 0, 99, row);
    return committed?.end !== undefined || count === (all[2 * row] ?? 0);
  });
}

function overlaps(version: Version, { start, end }: Period): boolean {
  const until = version.end === undefined ? version.start : (version.end ?? end);
  return version.start <= end && until >= start;
}

/** The rollup that an answer uses. */
function usedRollup({ current, now }: State, has: Has): Rollup | null {
  return current && (current.watermark <= now || !has("not ahead")) ? current : null;
}

/** The answers that read the sums. */
export function fullAnswers(state: State, has: Has): Answers {
  const rollup = usedRollup(state, has);
  const sums = rollup ? state.slots[rollup.slot] : [];
  return [
    ...PERIODS.map((period) => answer(state, sums, period, has)),
    ...answersOfDays(state, has),
  ];
}

/** The answers that use cached sums, if the rollup in the same snapshot is of their version. */
export function cachedAnswers(
  state: State,
  cached: NonNullable<State["cached"]>,
  has: Has,
): Answers {
  const isCurrent = usedRollup(state, has)?.version === cached.version || !has("same version");
  if (!isCurrent) return fullAnswers(state, has);
  return [
    ...PERIODS.map((period) => answer(state, cached.sums, period, has)),
    ...answersOfDays(state, has),
  ];
}

/** What a reader may cache. */
export function cacheable(state: State, has: Has): State["cached"] {
  const rollup = usedRollup(state, has);
  return rollup && { version: rollup.version, sums: state.slots[rollup.slot] };
}

/** The formulas of docs/rollups.md. Instants are ticks, so that a part ends before its end. */
function answer(state: State, sums: Sums, period: Period, has: Has): number[] {
  const { rows, now } = state;
  const watermark = usedRollup(state, has)?.watermark ?? -1;
  const { start } = period;
  const end = Math.min(period.end, now) + 1;
  // What is covered is dated up to the watermark, so this is a boundary too.
  const boundaries = [0, ...sums.map(([at]) => at).filter((at) => at <= watermark), watermark + 1];
  const inPeriod = boundaries.filter((at) => at >= start && at <= end);
  const before = boundaries.findLast((at) => at <= start) ?? 0;
  const [from, to] = [inPeriod.at(0) ?? before, inPeriod.at(-1) ?? before];
  const [atFrom, atTo] = [from, to].map((at) => sumsAt(sums, at > watermark ? 99 : at) ?? []);
  const isIn = (date: number, first: number, last: number) => date >= first && date < last;
  return rows.map(({ committed }: Row, row) => {
    const starts = atTo?.[2 * row] ?? 0;
    const covered = committed !== null && isCovered(committed, watermark, has);
    if (committed?.end === undefined) {
      const charges = starts - (atFrom?.[2 * row] ?? 0);
      if (!committed || !isIn(committed.start, start, end)) return charges;
      const isRaw = !isIn(committed.start, from, to) || !covered;
      return charges + (isRaw ? 1 : 0);
    }
    const ran = starts - (atFrom?.[2 * row + 1] ?? 0);
    if (!covered) return ran + (overlaps(committed, { start, end: end - 1 }) ? 1 : 0);
    const [started = 0, ended = 0] = datesOf(committed);
    const head = isIn(ended, start, from) ? 1 : 0;
    const taken = isIn(ended, from, start) ? 1 : 0;
    return ran + (isIn(started, to, end) ? 1 : 0) + head - taken;
  });
}
