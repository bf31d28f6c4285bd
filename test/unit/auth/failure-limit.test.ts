import { expect, it } from "vitest";
import { createFailureLimit } from "../../../src/auth/failure-limit.ts";
import { createTokenBuckets } from "../../../src/rpc/token-buckets.ts";

it("up to the burst of its address, a failure is unauthenticated; beyond it, too many", () => {
  // Never refilled: its clock stands still.
  const fail = createFailureLimit(createTokenBuckets({ rate: 10, burst: 2 }, () => 0));
  expect([..."aaab"].map((address) => fail(address).kind)).toEqual([
    "unauthenticated",
    "unauthenticated",
    "tooManyFailures",
    "unauthenticated",
  ]);
});
