/** Which rollups operators are told of: those that are missing or behind, once an hour. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLagLog } from "../../../src/rollup/read/lag-log.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = Date.parse("2026-11-20T09:30:00.000Z");
/** The uncovered charges from which a rollup is behind. */
const MANY = MIN_ROWS;
const [BEHIND, MISSING] = ["2026-11-20 08:30:00.000", undefined];

/** A lag log, its entries, and what it records. */
function createFixture() {
  const { log, entries } = collectLog();
  const recorded: unknown[] = [];
  const report = createLagLog(log, (...lag) => void recorded.push(lag));
  return {
    entries,
    recorded,
    /** Reports a use of a rollup with a watermark, or of none. */
    report: (
      provider: string,
      watermark?: string,
      uncoveredCharges?: number,
      isMissing = false,
    ) => {
      const rollup = watermark && ({ version: "3", watermark, slot: "0", leaf: "P1D" } as const);
      const facts = { rollup: rollup || undefined, now: NOW };
      report(provider, { facts, uncoveredCharges, isMissing });
    },
  };
}

it("a rollup has an entry if it is 30 minutes behind or more, and lacks many charges", () => {
  const { report, entries } = createFixture();
  report("5", "2026-11-20 09:00:00.001", 50 * MANY);
  report("6", "2026-01-01 00:00:00.000", MANY - 1);
  report("7", "2026-11-20 09:00:00.000", MANY);
  report("8", "2026-11-20 08:29:58.600", 12_345);
  const line = { level: "warn", msg: "rollup is behind" };
  expect(entries()).toEqual([
    {
      ...{ ...line, providerId: "7", watermark: "2026-11-20 09:00:00.000" },
      ...{ behindSeconds: 1800, uncoveredCharges: MANY },
    },
    {
      ...{ ...line, providerId: "8", watermark: "2026-11-20 08:29:58.600" },
      ...{ behindSeconds: 3601, uncoveredCharges: 12_345 },
    },
  ]);
});

it("a rollup that should be there has an entry, and counts, also if the read failed; that of a small provider does not", () => {
  const { report, entries, recorded } = createFixture();
  report("9", MISSING, MANY);
  report("7", MISSING, MANY, true);
  report("8", MISSING, undefined, true);
  report("8", MISSING, MANY - 1);
  const line = { level: "warn", msg: "provider has no rollup" };
  expect(entries()).toEqual([
    { ...line, providerId: "7", uncoveredCharges: MANY },
    { ...line, providerId: "8" },
  ]);
  const states = [
    ["9", "current"],
    ["7", "missing"],
    ["8", "missing"],
    ["8", "current"],
  ];
  // Of a rollup that is there, a read that fails tells nothing.
  report("7", BEHIND);
  expect(recorded).toEqual(states.map(([provider, state]) => [provider, 0, state]));
});

it("a provider has one entry of a kind in an hour, however many calls it makes", () => {
  const { report, entries } = createFixture();
  const lines = ["7", "8"].flatMap((providerId) => [
    { providerId, msg: "provider has no rollup" },
    { providerId, msg: "rollup is behind" },
  ]);
  for (const [wait, expected] of [
    [0, lines],
    [3_540_000, lines],
    [60_001, [...lines, ...lines]],
  ] as const) {
    vi.advanceTimersByTime(wait);
    for (const provider of ["7", "7", "8", "8"]) {
      report(provider, MISSING, MANY, true);
      report(provider, MISSING, undefined, true);
      report(provider, BEHIND, MANY);
    }
    expect(entries()).toMatchObject(expected);
  }
});
