import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Limits } from "../../src/limits.ts";
import { createSharing } from "../../src/rpc/sharing.ts";

/** Runs that end when the test says so, in the order in which they began. */
function held() {
  const runs: { limits: Limits; end: PromiseWithResolvers<string> }[] = [];
  const run = (limits: Limits) => {
    const end = Promise.withResolvers<string>();
    runs.push({ limits, end });
    return end.promise;
  };
  return { runs, run, end: (index: number, answer: string) => runs[index]?.end.resolve(answer) };
}

/** A caller who may leave. */
function caller() {
  const controller = new AbortController();
  const leave = (reason: unknown) => controller.abort(reason);
  return { limits: { signal: controller.signal }, leave };
}

const outcome = (answer: Promise<string>) => answer.catch((reason) => `failed: ${reason}`);

describe("calls that ask the same at the same time", () => {
  it("run at once while fewer than two are under way", () => {
    const { share } = createSharing();
    const { runs, run } = held();
    share("q", caller().limits, run);
    share("q", caller().limits, run);
    expect(runs).toHaveLength(2);
  });

  it("gather while two are under way, and share the run that begins when one of them ends", async () => {
    const { share } = createSharing();
    const { runs, run, end } = held();
    const answers = [1, 2, 3, 4, 5].map(() => share("q", caller().limits, run));
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
    const { share } = createSharing();
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
        share("q", caller().limits, read).then((seen) => {
          expect(seen).toBeGreaterThanOrEqual(known);
        }),
      );
      if (i % 3 === 0) await turn();
    }
    await Promise.all(calls);
  });

  it("fail where what they run throws at once", async () => {
    const { share } = createSharing();
    const thrown = () => {
      throw new Error("no such function");
    };
    expect(await outcome(share("q", caller().limits, thrown))).toMatch("no such function");
  });

  it("fail together where their run fails, and those after them run anew", async () => {
    const { share } = createSharing();
    const { runs, run, end } = held();
    const answers = [1, 2, 3, 4].map(() => outcome(share("q", caller().limits, run)));
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
    const again = share("q", caller().limits, run);
    end(3, "back");
    expect(await again).toBe("back");
  });
});

it("runs that hang are waited for one second, not for ever", async () => {
  const { share } = createSharing();
  const { runs, run, end } = held();
  share("q", caller().limits, run);
  share("q", caller().limits, run);
  const began = performance.now();
  const answer = share("q", caller().limits, run);
  await expect.poll(() => runs.length, { interval: 20, timeout: 5_000 }).toBe(3);
  expect(performance.now() - began).toBeGreaterThan(900);
  end(2, "fine");
  expect(await answer).toBe("fine");
  // What comes late changes nothing: two more may be under way, and no third.
  end(0, "late");
  end(1, "late");
  await turn();
  for (let i = 0; i < 3; i++) share("q", caller().limits, run);
  expect(runs).toHaveLength(5);
});

describe("calls that ask something else", () => {
  it("do not wait for each other, and get their own answers", async () => {
    const { share } = createSharing();
    const { run, end } = held();
    const answers = ["a", "b", "c"].map((question) => share(question, caller().limits, run));
    for (const [index, answer] of ["for a", "for b", "for c"].entries()) end(index, answer);
    expect(await Promise.all(answers)).toEqual(["for a", "for b", "for c"]);
  });
});

describe("a caller who leaves", () => {
  /** Two runs under way, and two callers who wait for the third. */
  function waiting() {
    const { share } = createSharing();
    const { runs, run, end } = held();
    share("q", caller().limits, run);
    share("q", caller().limits, run);
    const [one, other] = [caller(), caller()];
    const answers = [one, other].map(({ limits }) => outcome(share("q", limits, run)));
    return { runs, end, one, other, answers, share: () => share("q", caller().limits, run) };
  }

  it("is told at once, and the others' run goes on", async () => {
    const { runs, end, one, answers } = waiting();
    end(0, "");
    await turn();
    one.leave("gone");
    expect(await answers[0]).toBe("failed: gone");
    expect(runs[2]?.limits.signal.aborted).toBe(false);
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
    expect(runs[2]?.limits.signal.reason).toBe("too late");
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
    const { runs, end, one, other, answers, share } = waiting();
    one.leave("gone");
    other.leave("gone");
    await Promise.all(answers);
    const late = share();
    end(0, "");
    await turn();
    expect(runs[2]?.limits.signal.aborted).toBe(false);
    end(2, "for the late one");
    expect(await late).toBe("for the late one");
  });

  it("before he joined is not run for", async () => {
    const { share } = createSharing();
    const { runs, run } = held();
    const gone = caller();
    gone.leave("gone");
    expect(await outcome(share("q", gone.limits, run))).toBe("failed: gone");
    expect(runs).toEqual([]);
  });
});
