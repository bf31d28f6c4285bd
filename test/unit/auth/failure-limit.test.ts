import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createFailureLimit } from "../../../src/auth/failure-limit.ts";
import { createTokenBuckets } from "../../../src/rpc/token-buckets.ts";

const DELAY = 200;

/** A limit and a clock that the test may change. */
function limited(rate: number, burst: number) {
  const state = { now: 0 };
  const fail = createFailureLimit(
    createTokenBuckets({ rate, burst }, () => state.now),
    DELAY,
  );
  const kindOf = async (address: string) =>
    (await fail(address, new AbortController().signal)).kind;
  const kinds = (address: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => kindOf(address)));
  return { state, fail, kindOf, kinds };
}

/** Whether a promise settles before a timer runs. */
const settlesAtOnce = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), nextTurn(false)]);

const many = (kind: string, count: number) => Array<string>(count).fill(kind);

it("up to the burst, a failure is unauthenticated; beyond it, too many", async () => {
  const { kinds } = limited(10, 3);
  expect(await kinds("a", 5)).toEqual([
    ...many("unauthenticated", 3),
    ...many("tooManyFailures", 2),
  ]);
});

it("an address does not pay for another one", async () => {
  const { kinds, kindOf } = limited(10, 3);
  await kinds("a", 4);
  expect(await kindOf("b")).toBe("unauthenticated");
});

it("an error beyond the limit is delayed; one within it is not", async () => {
  const { kindOf } = limited(10, 1);
  expect(await settlesAtOnce(kindOf("a"))).toBe(true);
  const start = performance.now();
  const late = kindOf("a");
  expect(await settlesAtOnce(late)).toBe(false);
  await late;
  expect(performance.now() - start).toBeGreaterThan(DELAY * 0.9);
});

it("a caller that leaves does not wait for its error", async () => {
  const { fail, kindOf } = limited(10, 1);
  await kindOf("a");
  const caller = new AbortController();
  const error = fail("a", caller.signal);
  caller.abort("gone");
  await expect(error).rejects.toBe("gone");
});
