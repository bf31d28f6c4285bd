/** The stop of `npm run rollup` while its database is silent. That it ends with 0 otherwise: test/end-to-end/rollup. */
import { afterEach, expect, it, vi } from "vitest";
import { stopOnSignal } from "../../../src/cli/rollup-stop.ts";
import { collectLog } from "../../support/collected-log.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it("a signal aborts at once; ten seconds later the process ends with 1, and says what did not answer", () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
  const once = vi.spyOn(process, "once").mockReturnThis();
  const { log, entries } = collectLog();
  const { signal } = stopOnSignal(log);
  expect(once.mock.calls.map(([name]) => name)).toEqual(["SIGTERM", "SIGINT", "SIGHUP"]);
  expect(signal.aborted).toBe(false);
  once.mock.calls[0]?.[1]();
  expect(signal.aborted).toBe(true);
  vi.advanceTimersByTime(9_999);
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  const msg = "the database did not answer within 10 s of the signal";
  expect(entries()).toMatchObject([{ level: "warn", msg }]);
});
