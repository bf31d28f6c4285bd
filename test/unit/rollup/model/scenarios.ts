/** The scenarios that are explored: a few writers, runs and readers each. */
import { MARGIN, type Scenario, START_TICK, type Version, type Writer } from "./model.ts";

/** While writers keep to what is assumed of them. */
const KEPT = {
  built: true,
  properties: ["exact", "equal with cache", "once", "no false alarm"],
} satisfies Partial<Scenario>;

/** If they do not. */
const BROKEN = {
  built: true,
  properties: ["equal with cache", "once", "healed", "reported"],
} satisfies Partial<Scenario>;

/** If the clock jumps during a run. */
const JUMP = {
  ...BROKEN,
  jump: MARGIN + 2,
  properties: [...BROKEN.properties, "exact while ahead"],
} satisfies Partial<Scenario>;

/** Inserts a charge that is dated at `start`. */
const charge = (row: number, start: number, open: Writer["open"], late = 0): Writer => ({
  row,
  open,
  late,
  write: (recorded) => ({ start, recorded }),
});

/** Sets the end of a rental to `after` ticks from now, unless it has ended. */
const end = (row: number, after: number): Writer => ({
  row,
  open: "within margin",
  when: (committed, now) => committed?.end == null || committed.end > now,
  write: (recorded) => ({ start: 1, end: recorded + after, recorded }),
});

/** Charges of the first leaf and of the one in which the watermark lies. */
const CHARGE: Version = { start: 1, recorded: 1 };
const LATER_CHARGE: Version = { start: 5, recorded: 5 };
/** What the first rollup does not cover, and one a tick later does. */
const NEXT_CHARGE: Version = { start: 1, recorded: START_TICK - MARGIN + 1 };
const NEXT_RENTAL: Version = { ...NEXT_CHARGE, end: 5 };
/** A charge that was recorded long ago, and dated ahead: when it is covered, the watermark moves. */
const datedAt = (start: number): Version => ({ start, recorded: 1 });
const OPEN_RENTAL: Version = { start: 1, end: null, recorded: 1 };
const ENDED_RENTAL: Version = { start: 1, end: 5, recorded: 5 };

export const SCENARIOS = {
  "two writers within the margin, and a reader with cached sums": {
    ...KEPT,
    rows: [LATER_CHARGE, null, null],
    runs: [{}, { check: true }],
    ticks: 2,
    writers: [charge(1, 1, "within margin"), charge(2, 7, "within margin")],
    once: ["caches the sums"],
  },
  "charges that are dated ahead": {
    ...KEPT,
    rows: [NEXT_CHARGE, datedAt(6), null],
    runs: [{}, { check: true }],
    ticks: 4,
    writers: [charge(2, START_TICK + 1, "within margin")],
  },
  "a rental whose end is set ahead, and changed before it comes": {
    ...KEPT,
    rows: [OPEN_RENTAL],
    runs: [{ rebuild: true }],
    ticks: 3,
    writers: [end(0, 3), end(0, 1)],
  },
  "a transaction of any length that the account sees": {
    ...KEPT,
    rows: [null, datedAt(START_TICK)],
    runs: [{}, {}],
    ticks: 4,
    writers: [charge(0, 1, "visible")],
  },
  "a transaction of any length, whose statement had waited within the margin": {
    ...KEPT,
    rows: [null, datedAt(START_TICK)],
    runs: [{}, {}],
    ticks: 4,
    writers: [charge(0, 1, "visible", MARGIN - 1)],
  },
  "two first builds": {
    ...KEPT,
    built: false,
    rows: [CHARGE, null],
    runs: [{}, {}],
    ticks: 2,
    writers: [charge(1, 1, "within margin")],
  },
  "a provider that grows, and has enough rows for a rollup": {
    ...KEPT,
    built: false,
    minRows: 2,
    rows: [CHARGE, null],
    runs: [{}, {}],
    ticks: 3,
    writers: [charge(1, 5, "visible")],
    properties: [...KEPT.properties, "built"],
  },
  "a rebuild, a refresh and a check": {
    ...KEPT,
    rows: [CHARGE, NEXT_RENTAL],
    ticks: 2,
    writers: [],
    runs: [{ rebuild: true }, { check: true }],
    once: ["caches the sums"],
  },
  "two rebuilds": {
    ...KEPT,
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    ticks: 1,
    runs: [{ rebuild: true }, { rebuild: true }],
  },
  "the rows of rollups are deleted": {
    ...KEPT,
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    runs: [{}, { rebuild: true }],
    ticks: 1,
    once: ["deletes the rows of rollups", "caches the sums"],
  },
  "the database is restored": {
    ...KEPT,
    rows: [NEXT_CHARGE, null],
    runs: [{}, {}],
    ticks: 2,
    writers: [charge(1, 5, "within margin")],
    once: ["restores the database", "caches the sums"],
  },
  "a transaction of any length that nobody sees": {
    ...BROKEN,
    runs: [{}, { check: true }],
    ticks: 3,
    rows: [null, datedAt(START_TICK), datedAt(START_TICK + 1)],
    writers: [charge(0, 1, "hidden")],
  },
  "two checks that find the same late charge": {
    ...BROKEN,
    rows: [CHARGE, null],
    runs: [{ check: true }, { check: true }],
    ticks: 1,
    writers: [charge(1, 1, "hidden", MARGIN)],
    once: ["caches the sums"],
  },
  "a covered charge that is deleted": {
    ...BROKEN,
    rows: [LATER_CHARGE],
    runs: [{ check: true }, {}],
    ticks: 3,
    writers: [{ row: 0, open: "within margin", write: () => null }],
    once: ["caches the sums"],
  },
  "a quarter hour that is changed": {
    ...BROKEN,
    rows: [CHARGE, NEXT_CHARGE, null],
    runs: [{ check: true }, {}],
    ticks: 2,
    writers: [charge(2, 5, "within margin")],
    once: ["changes a quarter hour"],
    properties: ["exact", ...BROKEN.properties],
  },
  "a covered rental that is written again": {
    ...BROKEN,
    rows: [ENDED_RENTAL, NEXT_CHARGE],
    runs: [{ check: true }, {}],
    ticks: 3,
    writers: [
      { row: 0, open: "within margin", write: (recorded) => ({ ...ENDED_RENTAL, recorded }) },
    ],
  },
  "a clock that jumps forward and back, and catches up": {
    ...JUMP,
    rows: [null, datedAt(6)],
    runs: [{ check: true }],
    ticks: 2,
    writers: [charge(0, 5, "within margin")],
    once: ["caches the sums"],
  },
  "a clock that jumps during a first build": {
    ...JUMP,
    built: false,
    rows: [null],
    runs: [{}, {}],
    ticks: 0,
    writers: [charge(0, 5, "within margin")],
    properties: ["once", "healed", "exact while ahead"],
  },
} as const satisfies Record<string, Scenario>;
