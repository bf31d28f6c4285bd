import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CurrentRollup } from "../../../src/rollup/read/facts.ts";
import { createLagLog } from "../../../src/rollup/read/lag-log.ts";
import { collectLog } from "../../support/collected-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = Date.parse("2026-11-20T09:30:00.000Z");
const MINUTE = 60_000;
/** The uncovered charges from which a rollup is behind. */
const MANY = 1_000;
const MISSING = undefined;
const at = (watermark: string): CurrentRollup => ({
  version: "3",
  watermark,
  slot: "0",
  leaf: "P1D",
  totalLeaf: "P1D",
});
const CURRENT = at("2026-11-20 09:15:00.000");
const BEHIND = at("2026-11-20 08:30:00.000");

/** A lag log and its entries. */
function createFixture() {
  const { log, entries } = collectLog();
  const report = createLagLog(log);
  return {
    entries,
    report: (
      provider: string,
      rollup: CurrentRollup | undefined,
      now: number,
      uncoveredCharges: number,
    ) => report(provider, { facts: { rollup, now }, uncoveredCharges }),
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

it("a provider without a rollup has an entry, once another one's has been seen", () => {
  const { report, entries } = createFixture();
  report("7", MISSING, NOW, MANY);
  expect(entries()).toEqual([]);
  report("8", CURRENT, NOW, 0);
  report("9", MISSING, NOW, MANY - 1);
  report("7", MISSING, NOW, MANY);
  expect(entries()).toEqual([
    { level: "warn", providerId: "7", uncoveredCharges: MANY, msg: "provider has no rollup" },
  ]);
});

it("of one kind, ten entries in ten minutes have a line, and the others one together", () => {
  const { report, entries } = createFixture();
  report("8", CURRENT, NOW, 0);
  for (let provider = 0; provider < 300; provider++) {
    report(`${provider}`, BEHIND, NOW, MANY);
    report(`${provider}`, MISSING, NOW, MANY);
  }
  expect(entries()).toHaveLength(20);
  vi.advanceTimersByTime(10 * MINUTE);
  expect(entries().slice(20)).toEqual([
    { level: "warn", count: 290, seconds: 600, msg: "more: rollup is behind" },
    { level: "warn", count: 290, seconds: 600, msg: "more: provider has no rollup" },
  ]);
  report("7", BEHIND, NOW, MANY);
  expect(entries()).toHaveLength(23);
});
