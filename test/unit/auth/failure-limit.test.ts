import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createFailureLimit } from "../../../src/auth/failure-limit.ts";
import { createTokenBuckets } from "../../../src/rpc/token-buckets.ts";

const DELAY = 200;

/** A limit that is never refilled: its clock stands still. */
function limited(burst: number) {
  const take = createTokenBuckets({ rate: 10, burst }, () => 0);
  const fail = createFailureLimit(take, DELAY);
  const kindOf = async (address: string) =>
    (await fail(address, new AbortController().signal)).kind;
  return { fail, kindOf };
}

/** Whether a promise settles before a timer runs. */
const settlesAtOnce = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), nextTurn(false)]);

it("up to the burst of its address, a failure is unauthenticated; beyond it, too many", async () => {
  const { kindOf } = limited(2);
  const kinds = await Promise.all([..."aaab"].map(kindOf));
  expect(kinds).toEqual([
    "unauthenticated",
    "unauthenticated",
    "tooManyFailures",
    "unauthenticated",
  ]);
});

it("an error beyond the limit is delayed; one within it is not", async () => {
  const { kindOf } = limited(1);
  expect(await settlesAtOnce(kindOf("a"))).toBe(true);
  const start = performance.now();
  const late = kindOf("a");
  expect(await settlesAtOnce(late)).toBe(false);
  await late;
  expect(performance.now() - start).toBeGreaterThan(DELAY * 0.9);
});

it("a caller that leaves does not wait for its error", async () => {
  const { fail, kindOf } = limited(1);
  await kindOf("a");
  const caller = new AbortController();
  const error = fail("a", caller.signal);
  caller.abort("gone");
  await expect(error).rejects.toBe("gone");
});
