/** The fair queue in front of the pool: who gets a connection, and in which order. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { createFairShare, type FairShare } from "../../../src/db/fair-share.ts";
import { ServiceError } from "../../../src/errors.ts";

const { signal } = new AbortController();

/** How many places an owner gets at once. */
function takeAll(share: FairShare, owner: string): number {
  let count = 0;
  while (share.take(owner)) count++;
  return count;
}

/** Waits for places, and lists the owners in the order in which they get one. */
function waitFor(share: FairShare, served: string[], owner: string, count: number) {
  return Array.from({ length: count }, () =>
    share.wait(owner, signal).then(() => served.push(owner)),
  );
}

/** Lets those who were given a place run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("an owner leaves places to others, and so do two and three", () => {
  const share = createFairShare(10, 100);
  expect(["a", "b", "c", "d"].map((owner) => takeAll(share, owner))).toEqual([5, 3, 1, 1]);
});

it("those who wait are served by owner in turn", async () => {
  const share = createFairShare(1, 60_000);
  const served: string[] = [];
  share.take("x");
  waitFor(share, served, "a", 4);
  waitFor(share, served, "b", 2);
  waitFor(share, served, "c", 1);
  for (let i = 0; i < 7; i++) {
    share.give(served.at(-1) ?? "x");
    await settled();
  }
  expect(served.join("")).toBe("abcabaa");
});

it.each([
  [["a", "a", "b", "c"], "no connection became free within 2000 ms"],
  [["a", "a"], "no connection became free within 2000 ms; 2 of 4 are free, for other providers"],
])(
  "who gets no place in time, as %j have some, is told why, and leaves nothing behind",
  async (owners, message) => {
    const share = createFairShare(4, 2_000);
    for (const owner of owners) share.take(owner);
    vi.useFakeTimers();
    const refused = expect(share.wait("a", signal)).rejects.toMatchObject({
      kind: "overloaded",
      cause: { message },
    });
    await vi.advanceTimersByTimeAsync(2_000);
    await refused;
    vi.useRealTimers();
    share.give("a");
    expect(share.take("d")).toBe(true);
  },
);

it("whatever happens, places are neither lost nor multiplied, and nobody waits in vain", async () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom("take", "give", "wait", "leave"), fc.nat({ max: 4 }), fc.nat()),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (size, sequence) => {
      const share = createFairShare(size, 60_000);
      const held: string[] = [];
      const waiting: { owner: string; caller: AbortController }[] = [];
      const count = (owner: string) => held.filter((other) => other === owner).length;
      for (const [step, number, pick] of sequence) {
        const owner = `${number}`;
        if (step === "take") {
          const before = count(owner) < size - held.length;
          expect(share.take(owner)).toBe(before);
          if (before) held.push(owner);
        } else if (step === "give" && held.length > 0) {
          share.give(held.splice(pick % held.length, 1)[0] as string);
        } else if (step === "wait") {
          if (share.take(owner)) held.push(owner);
          else {
            const entry = { owner, caller: new AbortController() };
            waiting.push(entry);
            const end = () => waiting.splice(waiting.indexOf(entry), 1);
            share.wait(owner, entry.caller.signal).then(
              () => {
                held.push(owner);
                end();
              },
              () => end(),
            );
          }
        } else if (step === "leave" && waiting.length > 0) {
          waiting[pick % waiting.length]?.caller.abort(new ServiceError("canceled"));
        }
        await settled();
        expect(held.length).toBeLessThanOrEqual(size);
        // Those who still wait are not entitled to a place.
        for (const { owner } of waiting)
          expect(count(owner)).toBeGreaterThanOrEqual(size - held.length);
      }
      while (held.length > 0) {
        share.give(held.pop() as string);
        await settled();
      }
      expect(waiting).toEqual([]);
      expect(takeAll(share, "last")).toBe(Math.ceil(size / 2));
    }),
  );
});
