import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createCoalescing } from "../../../src/rpc/coalescing.ts";

/** Runs that end when the test says so, in the order in which they began. */
function held() {
  const runs: { signal: AbortSignal; end: PromiseWithResolvers<string> }[] = [];
  const work = (signal: AbortSignal) => {
    const end = Promise.withResolvers<string>();
    runs.push({ signal, end });
    return end.promise;
  };
  return { runs, work, end: (index: number, answer: string) => runs[index]?.end.resolve(answer) };
}

/** A caller who may leave. */
function caller() {
  const controller = new AbortController();
  const leave = (reason: unknown) => controller.abort(reason);
  return { signal: controller.signal, leave };
}

const outcome = (answer: Promise<string>) => answer.catch((reason) => `failed: ${reason}`);

describe("calls that ask the same at the same time", () => {
  it("run at once while fewer than two are under way", () => {
    const { run } = createCoalescing();
    const { runs, work } = held();
    run("q", caller().signal, work);
    run("q", caller().signal, work);
    expect(runs).toHaveLength(2);
  });

  it("gather while two are under way, and share the run that begins when one of them ends", async () => {
    const { run } = createCoalescing();
    const { runs, work, end } = held();
    const answers = [1, 2, 3, 4, 5].map(() => run("q", caller().signal, work));
    expect(runs).toHaveLength(2);
    end(1, "second");
    expect(await answers[1]).toBe("second");
    await turn();
    expect(runs).toHaveLength(3);
    end(0, "first");
    end(2, "shared");
    expect(await Promise.all(answers)).toEqual(["first", "second", "shared", "shared", "shared"]);
  });

  it("never join a run that has begun: its snapshot would be older than the call", async () => {
    const { run } = createCoalescing();
    let written = 0;
    const read = async () => {
      const seen = written;
      await turn();
      return seen;
    };
    const calls: Promise<void>[] = [];
    for (let i = 0; i < 200; i++) {
      const known = ++written;
      calls.push(
        run("q", caller().signal, read).then((seen) => {
          expect(seen).toBeGreaterThanOrEqual(known);
        }),
      );
      if (i % 3 === 0) await turn();
    }
    await Promise.all(calls);
  });

  it("fail where what they run throws at once", async () => {
    const { run } = createCoalescing();
    const thrown = () => {
      throw new Error("no such function");
    };
    expect(await outcome(run("q", caller().signal, thrown))).toMatch("no such function");
  });

  it("fail together where their run fails, and those after them run anew", async () => {
    const { run } = createCoalescing();
    const { runs, work, end } = held();
    const answers = [1, 2, 3, 4].map(() => outcome(run("q", caller().signal, work)));
    runs[0]?.end.reject("away");
    await turn();
    await turn();
    runs[2]?.end.reject("still away");
    end(1, "fine");
    expect(await Promise.all(answers)).toEqual([
      "failed: away",
      "fine",
      "failed: still away",
      "failed: still away",
    ]);
    const again = run("q", caller().signal, work);
    end(3, "back");
    expect(await again).toBe("back");
  });
});

it("runs that hang are waited for one second, not for ever", async () => {
  const { run } = createCoalescing();
  const { runs, work, end } = held();
  run("q", caller().signal, work);
  run("q", caller().signal, work);
  const began = performance.now();
  const answer = run("q", caller().signal, work);
  await expect.poll(() => runs.length, { interval: 20, timeout: 5_000 }).toBe(3);
  expect(performance.now() - began).toBeGreaterThan(900);
  end(2, "fine");
  expect(await answer).toBe("fine");
  // What comes late changes nothing: two more may be under way, and no third.
  end(0, "late");
  end(1, "late");
  await turn();
  for (let i = 0; i < 3; i++) run("q", caller().signal, work);
  expect(runs).toHaveLength(5);
});

describe("calls that ask something else", () => {
  it("do not wait for each other, and get their own answers", async () => {
    const { run } = createCoalescing();
    const { work, end } = held();
    const answers = ["a", "b", "c"].map((question) => run(question, caller().signal, work));
    for (const [index, answer] of ["for a", "for b", "for c"].entries()) end(index, answer);
    expect(await Promise.all(answers)).toEqual(["for a", "for b", "for c"]);
  });
});

describe("a caller who leaves", () => {
  /** Two runs under way, and two callers who wait for the third. */
  function waiting() {
    const { run } = createCoalescing();
    const { runs, work, end } = held();
    run("q", caller().signal, work);
    run("q", caller().signal, work);
    const [one, other] = [caller(), caller()];
    const answers = [one, other].map(({ signal }) => outcome(run("q", signal, work)));
    return { runs, end, one, other, answers, join: () => run("q", caller().signal, work) };
  }

  it("is told at once, and the others' run goes on", async () => {
    const { runs, end, one, answers } = waiting();
    end(0, "");
    await turn();
    one.leave("gone");
    expect(await answers[0]).toBe("failed: gone");
    expect(runs[2]?.signal.aborted).toBe(false);
    end(2, "shared");
    expect(await answers[1]).toBe("shared");
  });

  it("as the last one ends the run, with his reason", async () => {
    const { runs, end, one, other, answers } = waiting();
    end(0, "");
    await turn();
    one.leave("gone");
    other.leave("too late");
    expect(await Promise.all(answers)).toEqual(["failed: gone", "failed: too late"]);
    expect(runs[2]?.signal.reason).toBe("too late");
  });

  it("before the run begins, as all did, costs none", async () => {
    const { runs, end, one, other, answers } = waiting();
    one.leave("gone");
    other.leave("gone");
    await Promise.all(answers);
    end(0, "");
    end(1, "");
    await turn();
    expect(runs).toHaveLength(2);
  });

  it("takes nobody with him who comes after", async () => {
    const { runs, end, one, other, answers, join } = waiting();
    one.leave("gone");
    other.leave("gone");
    await Promise.all(answers);
    const late = join();
    end(0, "");
    await turn();
    expect(runs[2]?.signal.aborted).toBe(false);
    end(2, "for the late one");
    expect(await late).toBe("for the late one");
  });

  it("before he joined is not run for", async () => {
    const { run } = createCoalescing();
    const { runs, work } = held();
    const gone = caller();
    gone.leave("gone");
    expect(await outcome(run("q", gone.signal, work))).toBe("failed: gone");
    expect(runs).toEqual([]);
  });
});
