/** The log of `npm run rollup` on a terminal. What it writes otherwise is in test/end-to-end/rollup. */
import { expect, it, vi } from "vitest";
import { createRollupLog, warnOnceTo } from "../../../src/cli/rollup-log.ts";
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

it("a line is the same for a person, without the fields of an error", () => {
  const lines = printed((log) => {
    logRun(log, result);
    log.error({ reason: "away", cause: { errno: 7 }, problems: ["one", "two"] }, "run failed");
    log.warn({}, "odd");
  });
  expect(lines).toEqual({
    stdout: ["run ended: charges 1, providers 1, small 0, behind 0, repairs 0, ms 123"],
    stderr: ["error: run failed: reason away, problems one,two", "warn: odd"],
  });
});

it("what the watermark waits for is told once", () => {
  const began = "2026-01-01 00:00:00";
  const waitsFor = { began, session: 7, user: "etl", database: undefined };
  const lines = printed((log) => {
    const { succeeded } = createOutcomeLog(log);
    for (const _ of [1, 2]) succeeded({ ...result, waitsFor });
  });
  const line = `warn: the watermark waits: began ${began}, session 7, user etl`;
  expect(lines).toEqual({ stdout: [], stderr: [line] });
});

it("runs that succeed again are told, with the count of those that failed", () => {
  const { log, entries } = collectLog();
  const { failed, succeeded } = createOutcomeLog(log);
  for (const _ of [1, 2, 3]) failed(new Error("away"));
  succeeded(result);
  expect(entries()).toMatchObject([
    { msg: "run failed, will retry", reason: "away" },
    { msg: "runs succeed again", failures: 3 },
  ]);
});

it("a line has no API keys, and a warning is logged once", () => {
  const key = `rvk_${"a".repeat(49)}`;
  const lines = printed((log) => {
    log.error({ reason: `at ${key} of` }, "run failed");
    const warn = warnOnceTo(log);
    for (const _ of [1, 2]) warn("odd");
  });
  expect(lines.stderr).toEqual(["error: run failed: reason at rvk_aaaa… of", "warn: odd"]);
});
