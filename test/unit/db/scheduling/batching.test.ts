/** Which reads share a statement, and what becomes of them. */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBatching } from "../../../../src/db/scheduling/batching.ts";

// Time stands still unless a test lets it pass.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Items are texts; a part of one, up to "/", is its key. Results are the items in upper case. */
function createFixture(sizes: readonly number[] = [2, 4]) {
  const runs: {
    items: readonly string[];
    signal: AbortSignal;
    connect(): void;
    answer(): void;
    fail(error: Error): void;
  }[] = [];
  const run = (items: readonly string[], signal: AbortSignal, connect = () => {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const answer = () => resolve(items.map((item) => item.toUpperCase()));
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    runs.push({ items, signal, connect, answer, fail: reject });
    return promise;
  };
  const read = createBatching<string, string>({
    sizes,
    keyOf: (item) => item.replace(/\/.*/, ""),
    alone: async (item, signal) => (await run([item], signal))[0] ?? "",
    together: (items, { signal, onConnection }) => run(items, signal, onConnection),
  });
  const started = () => runs.map(({ items }) => items.join(" "));
  return { read, runs, started };
}

type Until = { readonly signal: AbortSignal; readonly deadline: number };

/** A caller that never leaves. */
const staying = (deadline = Infinity) => ({ signal: new AbortController().signal, deadline });

/** Answers everything that runs, until nothing does. */
async function answerAll(runs: ReturnType<typeof createFixture>["runs"]): Promise<void> {
  for (let answered = 0; answered < runs.length; await turn()) runs[answered++]?.answer();
}

describe("reads", () => {
  it("run alone and at once while fewer than two statements are in flight, and then share them, as many as the sizes allow, in the order of arrival", async () => {
    const { read, runs, started } = createFixture();
    const results = [..."abcdefghi"].map((item) => read(item, staying()));
    await answerAll(runs);
    expect(await Promise.all(results)).toEqual([..."ABCDEFGHI"]);
    expect(started()).toEqual(["a", "b", "c d e f", "g h", "i"]);
  });

  it("with the same key never share a statement", async () => {
    const { read, runs, started } = createFixture();
    const items = ["a", "b", "c/1", "c/2", "d", "c/3"];
    const results = items.map((item) => read(item, staying()));
    await answerAll(runs);
    expect(await Promise.all(results)).toEqual(items.map((item) => item.toUpperCase()));
    expect(started()).toEqual(["a", "b", "c/1 d", "c/2", "c/3"]);
  });

  it("with little time left run alone and at once: others in the statement could take it", () => {
    const { read, started } = createFixture();
    for (const item of "abc") read(item, staying(Date.now() + 300));
    read("d", staying(Date.now() + 10_000));
    read("e", staying(Date.now() + 10_000));
    read("f", staying(Date.now() + 10_000));
    expect(started()).toEqual([..."abcde"]);
  });

  it("do not join a statement that has started: its snapshot may be older", async () => {
    const { read, runs, started } = createFixture();
    const results = [..."abcd"].map((item) => read(item, staying()));
    runs[0]?.answer();
    await turn();
    expect(started()).toEqual(["a", "b", "c d"]);
    results.push(read("e", staying()));
    await answerAll(runs);
    await Promise.all(results);
    expect(started()).toEqual(["a", "b", "c d", "e"]);
  });

  it("are not held up by a slow one: it no longer counts after 5 ms", () => {
    const { read, started } = createFixture();
    for (const item of "abcd") read(item, staying());
    vi.advanceTimersByTime(5);
    expect(started()).toEqual(["a", "b", "c d"]);
  });
});

describe("a shared statement", () => {
  /** Reads of which the last two share a statement, and that statement. */
  async function share(until: readonly Until[]) {
    const { read, runs } = createFixture();
    const others = ["a", "b"].map((item) => read(item, staying()));
    const results = until.map((one, index) => read("cd"[index] ?? "", one));
    runs[0]?.answer();
    await others[0];
    await turn();
    const shared = runs[2];
    if (shared === undefined) throw new Error("nothing shared");
    expect(shared.items).toEqual(["c", "d"]);
    return { runs, results, shared };
  }

  it("goes on while one of its callers stays, and is cancelled when the last leaves", async () => {
    const leaving = [new AbortController(), new AbortController()];
    const { shared, results, runs } = await share(
      leaving.map(({ signal }) => ({ signal, deadline: Infinity })),
    );
    leaving[0]?.abort(new Error("left"));
    await expect(results[0]).rejects.toThrow("left");
    expect(shared.signal.aborted).toBe(false);
    leaving[1]?.abort(new Error("left"));
    await expect(results[1]).rejects.toThrow("left");
    await turn();
    expect(shared.signal.aborted).toBe(true);
    expect(runs).toHaveLength(3); // nothing is read again
  });

  it("that fails costs its callers nothing: each is read alone, and so is every other for a while", async () => {
    const { read, runs, started } = createFixture([2]);
    const results = [..."abcdefgh"].map((item) => read(item, staying()));
    runs[0]?.answer();
    await turn();
    expect(started()).toEqual(["a", "b", "c d"]);
    runs[2]?.connect();
    runs[2]?.fail(new Error("its plan has changed"));
    await turn();
    results.push(read("i", staying()), read("j", staying()));
    expect(started().slice(3).toSorted()).toEqual([..."cdefghij"]);
    await answerAll(runs);
    expect(await Promise.all(results)).toEqual([..."ABCDEFGHIJ"]);
  });

  it("that gets no connection fails its callers, who would get none either, and others share on", async () => {
    const { read, runs, started } = createFixture([2]);
    const results = [..."abcdefgh"].map((item) => read(item, staying()));
    runs[0]?.answer();
    await turn();
    runs[2]?.fail(new Error("overloaded"));
    await expect(results[2]).rejects.toThrow("overloaded");
    await expect(results[3]).rejects.toThrow("overloaded");
    await turn();
    expect(started()).toEqual(["a", "b", "c d", "e f"]);
  });

  it("that waits for a connection for long is not cancelled: a backlog is no reason for more", async () => {
    const { shared, results } = await share([staying(), staying()]);
    vi.advanceTimersByTime(60_000);
    expect(shared.signal.aborted).toBe(false);
    shared.answer();
    expect(await Promise.all(results)).toEqual(["C", "D"]);
  });

  it("that takes too long on its connection is left, and each is read alone", async () => {
    const { shared, results, runs } = await share([staying(), staying()]);
    shared.connect();
    vi.advanceTimersByTime(250);
    expect(shared.signal.aborted).toBe(true);
    await turn();
    await answerAll(runs);
    expect(await Promise.all(results)).toEqual(["C", "D"]);
    expect(runs.slice(3).map(({ items }) => items)).toEqual([["c"], ["d"]]);
  });
});

it("a read whose caller has left before it starts is never run", async () => {
  const { read, runs, started } = createFixture();
  for (const item of "ab") read(item, staying());
  const leaving = new AbortController();
  const left = read("c", { signal: leaving.signal, deadline: Infinity });
  const stays = read("d", staying());
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(
    read("e", { signal: AbortSignal.abort(new Error("gone")), deadline: Infinity }),
  ).rejects.toThrow("gone");
  await answerAll(runs);
  expect(await stays).toBe("D");
  expect(started()).toEqual(["a", "b", "d"]);
});
