/** A page has its rows in order, a few made at once, and ends before those that are not made in time. */
import { expect, it, onTestFinished, vi } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { rowsInTime } from "../../../src/revenue/platform/page.ts";

const ITEMS = Array.from({ length: 20 }, (_, nth) => nth);
const never = new AbortController().signal;
const longTime = { signal: never, deadline: performance.now() + 3_600_000 };
/** The timer of the end of the page fires at once. */
const noTime = { signal: never, deadline: 0 };

/** Rejects with the signal's reason when it aborts. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
  });

it("all rows come in the order of the items, of which two are made at once", async () => {
  let [atOnce, most] = [0, 0];
  const rows = await rowsInTime(
    ITEMS,
    async (item) => {
      most = Math.max(most, ++atOnce);
      // The later ones take fewer turns.
      for (let turn = item; turn < ITEMS.length; turn++) await new Promise(setImmediate);
      atOnce--;
      return -item;
    },
    longTime,
  );
  expect(rows).toEqual(ITEMS.map((item) => -item));
  expect(most).toBe(2);
});

it("when the time ends, the rows that were made are the page, without any after one that was not", async () => {
  const started: number[] = [];
  const release = Promise.withResolvers<void>();
  const page = rowsInTime(
    ITEMS,
    async (item, signal) => {
      started.push(item);
      if (item === 0) await release.promise;
      if (item !== 1) return item;
      return aborted(signal).finally(release.resolve);
    },
    noTime,
  );
  expect(await page).toEqual([0]);
  // The first two begin at once; nothing begins after the end.
  expect(started).toEqual([0, 1]);
});

it("the rows have a part of the time, so that a page is sent within it, and the first one all of it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const call = new AbortController();
  const parts = { signal: call.signal, deadline: performance.now() + 60_000 };
  const first = rowsInTime(ITEMS, (_, signal) => aborted(signal), parts);
  const others = async (item: number, signal: AbortSignal) => (item === 0 ? 0 : aborted(signal));
  const page = rowsInTime(ITEMS, others, parts);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(await Promise.race([page, new Promise(setImmediate)])).toEqual([0]);
  call.abort(new ServiceError("deadlineExceeded"));
  await expect(first).rejects.toMatchObject({ kind: "deadlineExceeded" });
});

it("a row for which no connection becomes free ends the page; the first one fails it", async () => {
  const makeUpTo = (last: number) => async (item: number) => {
    if (item > last) throw new ServiceError("overloaded");
    return item;
  };
  expect(await rowsInTime(ITEMS, makeUpTo(7), longTime)).toEqual(ITEMS.slice(0, 8));
  await expect(rowsInTime(ITEMS, makeUpTo(-1), longTime)).rejects.toMatchObject({
    kind: "overloaded",
  });
});

it.each([
  ["any other failure", "databaseUnavailable"],
  ["a caller that leaves", "canceled"],
] as const)("%s fails the page, and nothing begins after it", async (_, kind) => {
  const call = new AbortController();
  const started: number[] = [];
  const make = async (item: number, signal: AbortSignal) => {
    started.push(item);
    if (item === 3 && kind === "canceled") call.abort(new ServiceError(kind));
    else if (item === 3) throw new ServiceError(kind);
    signal.throwIfAborted();
    return item;
  };
  const page = rowsInTime(ITEMS, make, { signal: call.signal, deadline: longTime.deadline });
  await expect(page).rejects.toMatchObject({ kind });
  await new Promise(setImmediate);
  expect(started.length).toBeLessThan(8);
});
