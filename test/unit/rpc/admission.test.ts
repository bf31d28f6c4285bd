import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { createAdmission } from "../../../src/rpc/admission.ts";

const OVERLOADED = new ServiceError("overloaded");
const TOO_MANY_CALLS = new ServiceError("tooManyCalls");

describe("the total limit", () => {
  it("admits a call for each one that ends", () => {
    const admit = createAdmission({ total: 1, perProvider: 1 });
    const release = admit("7");
    expect(() => admit("8")).toThrow(OVERLOADED);
    expect(() => admit("8")).toThrow(OVERLOADED); // a rejected call frees nothing
    release();
    expect(() => admit("8")).not.toThrow();
  });

  it("keeps free as many places as a provider has, so that a few leave room for another", () => {
    const admit = createAdmission({ total: 1_000, perProvider: 250 });
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
    expect(["1", "2", "3", "4", "5", "6"].map(admitted)).toEqual([
      [250, "tooManyCalls"],
      [250, "tooManyCalls"],
      [250, "tooManyCalls"],
      [125, "overloaded"],
      [63, "overloaded"],
      [31, "overloaded"],
    ]);
  });
});

describe("the limit per provider", () => {
  it("rejects the provider's next call and admits other providers'", () => {
    const admit = createAdmission({ total: 10, perProvider: 2 });
    for (const provider of ["7", "7", "8"]) admit(provider);
    expect(() => admit("7")).toThrow(TOO_MANY_CALLS);
    expect(() => admit("8")).not.toThrow();
    expect(() => admit("8")).toThrow(TOO_MANY_CALLS);
  });

  it("admits a call once another call of the provider ends, not once a rejected one does", () => {
    const admit = createAdmission({ total: 10, perProvider: 1 });
    const release = admit("7");
    expect(() => admit("7")).toThrow(TOO_MANY_CALLS);
    expect(() => admit("7")).toThrow(TOO_MANY_CALLS);
    release();
    expect(() => admit("7")).not.toThrow();
  });
});

it("the counts are exact after many calls", () => {
  const admit = createAdmission({ total: 4, perProvider: 2 });
  for (let call = 0; call < 1_000; call++) admit(String(call % 7))();
  for (const provider of ["1", "1", "2", "3"]) admit(provider);
  expect(() => admit("4")).toThrow(OVERLOADED);
});
