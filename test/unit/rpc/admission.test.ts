import { expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { createAdmission } from "../../../src/rpc/admission.ts";

const OVERLOADED = new ServiceError("overloaded");
const TOO_MANY_CALLS = new ServiceError("tooManyCalls");

it.each([
  ["in total", { total: 1, perProvider: 9 }, "8", OVERLOADED],
  ["of a provider", { total: 9, perProvider: 1 }, "7", TOO_MANY_CALLS],
] as const)("%s, a call is admitted for each one that ends", (_, limits, next, error) => {
  const admit = createAdmission(limits);
  const release = admit("7");
  expect(() => admit(next)).toThrow(error);
  expect(() => admit(next)).toThrow(error); // a rejected call frees nothing
  release();
  expect(() => admit(next)).not.toThrow();
});

it("a call that ends frees one place, and not those of the others", () => {
  const admit = createAdmission({ total: 100, perProvider: 2 });
  const [release] = [admit("7"), admit("7")];
  release();
  admit("7");
  expect(() => admit("7")).toThrow(TOO_MANY_CALLS);
});

it("a provider gets as many places as it leaves free, so that a few leave room for another", () => {
  const admit = createAdmission({ total: 800, perProvider: 250 });
  const admitted = (provider: string) => {
    let calls = 0;
    try {
      for (;;) {
        admit(provider);
        calls++;
      }
    } catch (error) {
      return [calls, (error as ServiceError).kind];
    }
  };
  expect(["1", "2", "3", "4"].map(admitted)).toEqual([
    [250, "tooManyCalls"],
    [250, "tooManyCalls"],
    [150, "overloaded"],
    [75, "overloaded"],
  ]);
});
