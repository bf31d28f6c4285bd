/** The scenarios that are explored: a few writers, runs and readers each. */
import type { Property, Scenario, Writer } from "./model.ts";
import { CHECKPOINT, MARGIN, START_TICK, type Version } from "./state.ts";

/** The properties while writers keep to what is assumed of them. */
const KEPT: readonly Property[] = [
  "exact",
  "equal with cache",
  "never back",
  "never trusted ahead",
  "once",
];
/** The properties if they do not. */
const BROKEN: readonly Property[] = [
  "equal with cache",
  "never back",
  "never trusted ahead",
  "once",
  "healed",
  "reported",
];

/** Inserts a charge into row `row`, in the first or the last segment. */
const charge = (row: number, segment: 0 | 1, open: Writer["open"], lag = 0): Writer => ({
  ...{ row, open, lag },
  write: (recorded) => ({ start: segment === 0 ? 1 : CHECKPOINT + 1, recorded }),
});

/** Sets the end of a rental to `after` ticks from now, unless it has ended. */
const end = (row: number, after: number): Writer => ({
  ...{ row, open: "within margin" },
  when: (committed, now) => committed?.end == null || committed.end > now,
  write: (recorded) => ({ start: 1, end: recorded + after, recorded }),
});

const CHARGE: Version = { start: 1, recorded: 1 };
/** A charge that the rollup does not cover at the beginning, and covers one tick later. */
const NEXT_CHARGE: Version = { start: 1, recorded: START_TICK - MARGIN + 1 };
const LATER_CHARGE: Version = { start: CHECKPOINT + 1, recorded: 1 };
const OPEN_RENTAL: Version = { start: 1, end: null, recorded: 1 };
const ENDED_RENTAL: Version = { start: 1, end: 2, recorded: 2 };

export const SCENARIOS = {
  "two writers within the margin, one on a node whose clock lags": {
    rows: [null, null],
    writers: [charge(0, 0, "within margin"), charge(1, 1, "within margin", 1)],
    built: true,
    runs: [{}, {}],
    ticks: 3,
    properties: KEPT,
  },
  "a writer within the margin, and a reader with cached totals": {
    rows: [CHARGE, null],
    writers: [charge(1, 1, "within margin")],
    built: true,
    runs: [{ check: true }, {}],
    ticks: 3,
    cache: true,
    properties: KEPT,
  },
  "a rental whose end is set ahead, and changed before it comes": {
    rows: [OPEN_RENTAL],
    writers: [end(0, 4), end(0, 1)],
    built: true,
    runs: [{}, {}],
    ticks: 4,
    properties: KEPT,
  },
  "a transaction of any length that the account sees": {
    rows: [null],
    writers: [charge(0, 0, "visible")],
    built: true,
    runs: [{}, {}],
    ticks: 4,
    properties: KEPT,
  },
  "two first builds": {
    rows: [CHARGE, null],
    writers: [charge(1, 0, "within margin")],
    built: false,
    runs: [{}, {}],
    ticks: 2,
    properties: KEPT,
  },
  "a rebuild, a refresh and a check": {
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    built: true,
    runs: [{ rebuild: true }, {}, { check: true }],
    ticks: 1,
    properties: KEPT,
  },
  "two rebuilds": {
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    built: true,
    runs: [{ rebuild: true }, { rebuild: true }],
    ticks: 1,
    properties: KEPT,
  },
  "the row of rollups is deleted": {
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    built: true,
    runs: [{}, {}],
    ticks: 1,
    deletion: true,
    properties: KEPT,
  },
  "the row of rollups is deleted, and a charge is late": {
    rows: [CHARGE, null],
    writers: [charge(1, 0, "hidden", MARGIN)],
    built: true,
    runs: [{}],
    ticks: 0,
    deletion: true,
    cache: true,
    properties: ["equal with cache", "once", "healed"],
  },
  "the row of rollups is deleted during a first build": {
    rows: [CHARGE, NEXT_CHARGE],
    writers: [],
    built: false,
    runs: [{}, {}],
    ticks: 1,
    deletion: true,
    properties: KEPT,
  },
  "a transaction of any length that nobody sees": {
    rows: [null],
    writers: [charge(0, 0, "hidden")],
    built: true,
    runs: [{ check: true }, {}],
    ticks: 3,
    properties: [...BROKEN, "refresh finds late rows"],
  },
  "two checks that find the same late charge": {
    rows: [CHARGE, null],
    writers: [charge(1, 0, "hidden", MARGIN)],
    built: true,
    runs: [{ check: true }, { check: true }],
    ticks: 1,
    cache: true,
    properties: BROKEN,
  },
  "a late charge in the edge of a cached period": {
    rows: [CHARGE, null],
    writers: [charge(1, 1, "hidden", MARGIN + 1)],
    built: true,
    runs: [{ check: true }],
    ticks: 2,
    cache: true,
    properties: BROKEN,
  },
  "a covered charge that is deleted": {
    rows: [LATER_CHARGE],
    writers: [{ row: 0, open: "within margin", write: () => null }],
    built: true,
    runs: [{ check: true }, {}],
    ticks: 3,
    cache: true,
    properties: BROKEN,
  },
  "a covered rental that is written again": {
    rows: [ENDED_RENTAL],
    writers: [
      { row: 0, open: "within margin", write: (recorded) => ({ ...ENDED_RENTAL, recorded }) },
    ],
    built: true,
    runs: [{ check: true }, {}],
    ticks: 3,
    properties: [...KEPT, ...BROKEN],
  },
  "a rental that is written again while it is covered by a first build": {
    rows: [{ start: 1, end: CHECKPOINT, recorded: 2 }],
    writers: [
      {
        row: 0,
        open: "within margin",
        write: (recorded) => ({ start: 1, end: CHECKPOINT, recorded }),
      },
    ],
    built: false,
    runs: [{ check: true }, {}],
    ticks: 4,
    properties: [...KEPT, ...BROKEN],
  },
  "a clock that jumps forward and back, and catches up": {
    rows: [null],
    writers: [charge(0, 0, "within margin")],
    built: true,
    runs: [{ check: true }],
    ticks: 2,
    jump: MARGIN + 2,
    cache: true,
    properties: [...BROKEN, "exact while ahead"],
  },
  "a clock that jumps during two runs": {
    rows: [null],
    writers: [charge(0, 0, "within margin")],
    built: true,
    runs: [{ check: true }, {}],
    ticks: 0,
    jump: MARGIN + 2,
    properties: [...BROKEN, "exact while ahead"],
  },
  "a clock that jumps during a first build": {
    rows: [null],
    writers: [charge(0, 0, "within margin")],
    built: false,
    runs: [{}, {}],
    ticks: 0,
    jump: MARGIN + 2,
    properties: ["never back", "never trusted ahead", "once", "healed", "exact while ahead"],
  },
} as const satisfies Record<string, Scenario>;
