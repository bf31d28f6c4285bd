import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CurrentRollup } from "../../../src/rollup/read/facts.ts";
import { createLagLog } from "../../../src/rollup/read/lag-log.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = Date.parse("2026-11-20T09:30:00.000Z");
const MINUTE = 60_000;
/** The uncovered charges from which a rollup is behind. */
const MANY = MIN_ROWS;
const MISSING = undefined;
const at = (watermark: string): CurrentRollup => ({
  version: "3",
  watermark,
  slot: "0",
  leaf: "P1D",
});
const BEHIND = at("2026-11-20 08:30:00.000");

/** A lag log, its entries, and what it records. */
function createFixture() {
  const { log, entries } = collectLog();
  const recorded: unknown[] = [];
  const report = createLagLog(log, (...lag) => void recorded.push(lag));
  return {
    entries,
    recorded,
    report: (
      provider: string,
      rollup: CurrentRollup | undefined,
      now: number,
      uncoveredCharges?: number,
      isMissing?: boolean,
    ) => report(provider, { facts: { rollup, now }, uncoveredCharges, isMissing }),
  };
}

it("a rollup has an entry if it is 30 minutes behind or more, and lacks many charges", () => {
  const { report, entries } = createFixture();
  report("5", at("2026-11-20 09:00:00.001"), NOW, 50 * MANY);
  report("6", at("2026-01-01 00:00:00.000"), NOW, MANY - 1);
  report("7", at("2026-11-20 09:00:00.000"), NOW, MANY);
  report("8", at("2026-11-20 08:29:58.600"), NOW, 12_345);
  expect(entries()).toEqual([
    expect.objectContaining({ providerId: "7", behindSeconds: 1800, uncoveredCharges: MANY }),
    {
      level: "warn",
      providerId: "8",
      watermark: "2026-11-20 08:29:58.600",
      behindSeconds: 3601,
      uncoveredCharges: 12_345,
      msg: "rollup is behind",
    },
  ]);
});

it("a rollup that should be there has an entry, and counts; that of a small provider does not", () => {
  const { report, entries, recorded } = createFixture();
  report("9", MISSING, NOW, MANY);
  report("7", MISSING, NOW, MANY, true);
  expect(entries()).toEqual([
    { level: "warn", providerId: "7", uncoveredCharges: MANY, msg: "provider has no rollup" },
  ]);
  expect(recorded).toEqual([
    ["9", 0, "current"],
    ["7", 0, "missing"],
  ]);
});

it("a rollup is missed also by a read that fails", () => {
  const { report, entries, recorded } = createFixture();
  report("7", MISSING, NOW, undefined, true);
  expect(entries()).toEqual([{ level: "warn", providerId: "7", msg: "provider has no rollup" }]);
  report("7", MISSING, NOW, MANY - 1);
  expect(recorded).toEqual([
    ["7", 0, "missing"],
    ["7", 0, "current"],
  ]);
});

it("of a rollup that is there, a read that fails tells nothing", () => {
  const { report, entries, recorded } = createFixture();
  report("7", BEHIND, NOW);
  expect({ entries: entries(), recorded }).toEqual({ entries: [], recorded: [] });
});

it("a provider has one entry of a kind in an hour, however many calls it makes", () => {
  const { report, entries } = createFixture();
  const calls = () => {
    for (const provider of ["7", "8"]) {
      for (let call = 0; call < 30; call++) {
        report(provider, MISSING, NOW, MANY, true);
        report(provider, MISSING, NOW, undefined, true);
        report(provider, BEHIND, NOW, MANY);
      }
    }
  };
  calls();
  const expected = ["7", "8"].flatMap((providerId) =>
    ["provider has no rollup", "rollup is behind"].map((msg) => ({ providerId, msg })),
  );
  expect(entries()).toMatchObject(expected);
  vi.advanceTimersByTime(59 * MINUTE);
  calls();
  expect(entries()).toHaveLength(4);
  vi.advanceTimersByTime(MINUTE + 1);
  calls();
  expect(entries()).toMatchObject([...expected, ...expected]);
});
