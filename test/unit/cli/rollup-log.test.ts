/** The log of `npm run rollup` on a terminal. What it writes otherwise is in test/end-to-end/rollup. */
import { expect, it, vi } from "vitest";
import { createRollupLog, warnOnceTo, withoutKeys } from "../../../src/cli/rollup-log.ts";
import { createOutcomeLog, logRun } from "../../../src/cli/rollup-report.ts";
import type { RollupResult } from "../../../src/rollup/write/run.ts";
import { collectLog } from "../../support/collected-log.ts";

/** What work prints to a terminal, by stream. */
function printed(work: (log: ReturnType<typeof createRollupLog>) => void) {
  const out = vi.spyOn(console, "log").mockReturnValue();
  const err = vi.spyOn(console, "error").mockReturnValue();
  work(createRollupLog("info", true));
  const lines = [out, err].map(({ mock }) => mock.calls.map(([line]) => line));
  vi.restoreAllMocks();
  return { stdout: lines[0], stderr: lines[1] };
}

const counts = { charges: 1, providers: 1, small: 0, behind: 0, repairs: 0 };
const result = { ...counts, duration: 123 } as RollupResult;

it.each<[Partial<RollupResult>, string]>([
  [{}, "1 charge added, 1 provider up to date, 0.1 s"],
  [
    { providers: 3, small: 2 },
    "1 charge added, 3 providers up to date, 2 too small for a rollup, 0.1 s",
  ],
  [{ repairs: 2 }, "1 charge added, 1 provider up to date, 0.1 s, 2 differences repaired"],
])("a run %j is a sentence", (more, line) => {
  const lines = printed((log) => logRun(log, { ...result, ...more }));
  expect(lines).toEqual({ stdout: [line], stderr: [] });
});

const began = "2026-01-01 00:00:00";

it.each<[RollupResult["waitsFor"], string]>([
  [
    { began, session: 7, user: "etl", database: undefined },
    "a transaction or statement that began at 2026-01-01 00:00:00 UTC: session 7 of etl, in no database",
  ],
  [
    { began, session: undefined, user: undefined, database: undefined },
    "an XA transaction that was prepared at 2026-01-01 00:00:00 UTC (XA RECOVER lists it)",
  ],
])("what the watermark waits for, %j, is told once", (waitsFor, what) => {
  const outcomes = (log: ReturnType<typeof createRollupLog>) => {
    const { succeeded } = createOutcomeLog(log);
    for (const _ of [1, 2]) succeeded({ ...result, waitsFor });
  };
  const line = `the watermark waits for ${what}`;
  expect(printed(outcomes)).toEqual({ stdout: [], stderr: [expect.stringContaining(line)] });
});

it("the count of runs that failed comes before the line that they succeed again", () => {
  const { log, entries } = collectLog();
  const { failed, succeeded } = createOutcomeLog(log);
  for (const _ of [1, 2, 3]) failed(new Error("away"));
  succeeded(result);
  expect(entries()).toMatchObject([
    { msg: "run failed, will retry", reason: "away" },
    { msg: "more: run failed, will retry", reason: "away", count: 2 },
    { msg: "runs succeed again", failures: 3 },
  ]);
});

it("warnings and errors are on stderr, without API keys, and a line without a sentence has its fields", () => {
  const key = `rvk_${"a".repeat(49)}`;
  const { stdout, stderr } = printed((log) => {
    log.warn({ text: `read ${key}`, more: 1 }, "read");
    log.error({ text: "repaired" }, "a rollup was repaired");
    log.warn({ count: 3 }, "more: failed");
  });
  expect(stdout).toEqual([]);
  expect(stderr).toEqual([
    expect.not.stringContaining(key),
    "error: repaired",
    'more: failed: {"count":3}',
  ]);
});

it("JSON lines have fixed messages, and no API keys in their fields", () => {
  const { log, entries } = collectLog();
  const cause = { message: `at rvk_${"a".repeat(49)} of`, code: null, errno: 7 };
  withoutKeys(log).error({ text: "a sentence", cause }, "run failed");
  const warn = warnOnceTo(withoutKeys(log));
  for (const _ of [1, 2]) warn("cannot set a variable");
  expect(entries()).toEqual([
    { level: "error", msg: "run failed", cause: { ...cause, message: "at rvk_aaaa… of" } },
    { level: "warn", msg: "warning", warning: "cannot set a variable" },
  ]);
});
