import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCoalescing } from "../../../src/rpc/coalescing.ts";

/** How long a run waits for others of its first call: two turns of the event loop. */
async function turn() {
  await nextTurn();
  await nextTurn();
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Work whose runs the test settles, in the order in which they started. */
function controlledWork() {
  const runs: { signal: AbortSignal; result: PromiseWithResolvers<string> }[] = [];
  const work = (signal: AbortSignal) => {
    const result = Promise.withResolvers<string>();
    runs.push({ signal, result });
    return result.promise;
  };
  const resolve = (index: number, value: string) => runs[index]?.result.resolve(value);
  return { runs, work, resolve };
}

/** A caller that never leaves. */
const staying = () => new AbortController().signal;

const outcome = (result: Promise<string>) => result.catch((reason) => `rejected: ${reason}`);

/** Two calls with the key "key", whose runs are in flight. */
async function twoInFlight() {
  const run = createCoalescing();
  const controlled = controlledWork();
  const call = () => outcome(run("key", staying(), controlled.work));
  const first = call();
  await turn();
  const second = call();
  await turn();
  expect(controlled.runs).toHaveLength(2);
  return { run, call, first, second, ...controlled };
}

describe("calls with the same key", () => {
  it("share a run if they come in one turn of the event loop, or in the next", async () => {
    const run = createCoalescing();
    const { runs, work, resolve } = controlledWork();
    const results = [run("key", staying(), work), run("key", staying(), work)];
    await nextTurn();
    results.push(run("key", staying(), work));
    await turn();
    expect(runs).toHaveLength(1);
    resolve(0, "shared");
    expect(await Promise.all(results)).toEqual(["shared", "shared", "shared"]);
  });

  it("wait while two runs are in flight, and share the run that starts when one of these ends", async () => {
    const { call, first, second, runs, resolve } = await twoInFlight();
    const results = [call(), call()];
    await turn();
    results.push(call());
    await turn();
    expect(runs).toHaveLength(2);
    resolve(1, "second");
    expect(await second).toBe("second");
    await turn();
    expect(runs).toHaveLength(3);
    resolve(0, "first");
    resolve(2, "shared");
    expect(await first).toBe("first");
    expect(await Promise.all(results)).toEqual(["shared", "shared", "shared"]);
  });

  it("are counted until each has ended: after one of two, one more may start", async () => {
    const { call, first, runs, resolve } = await twoInFlight();
    resolve(0, "first");
    expect(await first).toBe("first");
    for (let i = 0; i < 3; i++) {
      call();
      await turn();
    }
    expect(runs).toHaveLength(3);
  });

  it("reject together if their run rejects, and later calls run again", async () => {
    const { call, first, second, runs, resolve } = await twoInFlight();
    const results = [call(), call()];
    runs[0]?.result.reject("down");
    await turn();
    await turn();
    runs[2]?.result.reject("still down");
    resolve(1, "fine");
    expect([await first, await second]).toEqual(["rejected: down", "fine"]);
    expect(await Promise.all(results)).toEqual(["rejected: still down", "rejected: still down"]);
    const later = call();
    await turn();
    resolve(3, "up again");
    expect(await later).toBe("up again");
  });
});

it("a run that hangs counts as in flight for one second", async () => {
  const { call, runs, resolve } = await twoInFlight();
  const result = call();
  vi.advanceTimersByTime(999);
  await turn();
  expect(runs).toHaveLength(2);
  vi.advanceTimersByTime(1);
  await turn();
  expect(runs).toHaveLength(3);
  resolve(2, "fine");
  expect(await result).toBe("fine");
  // The late ends of the first two are not counted again: two more runs may start, not a third.
  resolve(0, "late");
  resolve(1, "late");
  for (let i = 0; i < 3; i++) {
    await turn();
    call();
  }
  await turn();
  expect(runs).toHaveLength(5);
});

describe("a caller that leaves", () => {
  /** Two runs in flight, and two callers that wait for the third run. */
  async function waiting() {
    const { run, runs, work, resolve } = await twoInFlight();
    const [one, other] = [new AbortController(), new AbortController()];
    const results = [one, other].map(({ signal }) => outcome(run("key", signal, work)));
    return {
      run,
      runs,
      work,
      resolve,
      one,
      other,
      results,
      join: () => run("key", staying(), work),
    };
  }

  it("is rejected at once; the run continues for the others, and the last one aborts it", async () => {
    const { runs, resolve, one, other, results } = await waiting();
    resolve(0, "");
    await turn();
    one.abort("gone");
    expect(await results[0]).toBe("rejected: gone");
    expect(runs[2]?.signal.aborted).toBe(false);
    other.abort("too late");
    expect(await results[1]).toBe("rejected: too late");
    expect(runs[2]?.signal.reason).toBe("too late");
  });

  it("as the last one before the run starts prevents the run, and one that has left starts none", async () => {
    const { run, runs, work, resolve, one, other, results } = await waiting();
    one.abort("gone");
    other.abort("gone");
    await Promise.all(results);
    resolve(0, "");
    resolve(1, "");
    await turn();
    expect(await outcome(run("key", AbortSignal.abort("gone"), work))).toBe("rejected: gone");
    expect(runs).toHaveLength(2);
  });

  it("as the last one does not abort the run of a later caller", async () => {
    const { runs, resolve, one, other, results, join } = await waiting();
    one.abort("gone");
    other.abort("gone");
    await Promise.all(results);
    const later = join();
    resolve(0, "");
    await turn();
    expect(runs[2]?.signal.aborted).toBe(false);
    resolve(2, "for the later one");
    expect(await later).toBe("for the later one");
  });
});
