import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { ADMISSION_LIMITS, createAdmission, type Slot } from "../../../src/rpc/admission.ts";

const OVERLOADED = new ServiceError("overloaded");
const TOO_MANY_CALLS = new ServiceError("tooManyCalls");

/** Admits a call of a provider. */
function enterFor(enter: () => Slot, providerId: string) {
  const slot = enter();
  slot.assign(providerId);
  return slot;
}

describe("the total limit", () => {
  it("rejects the next call as overloaded", () => {
    const enter = createAdmission({ total: 2, perProvider: 2 });
    enter();
    enter();
    expect(() => enter()).toThrow(OVERLOADED);
    expect(() => enter()).toThrow(OVERLOADED); // a rejected call frees nothing
  });

  it("admits a call for each one that ends, with or without a provider", () => {
    const enter = createAdmission({ total: 1, perProvider: 1 });
    enter().release();
    const slot = enterFor(enter, "7");
    expect(() => enter()).toThrow(OVERLOADED);
    slot.release();
    expect(() => enter()).not.toThrow();
  });
});

describe("the limit per provider", () => {
  it("rejects the provider's next call and admits other providers'", () => {
    const enter = createAdmission({ total: 10, perProvider: 2 });
    for (const provider of ["7", "7", "8"]) enterFor(enter, provider);
    expect(() => enterFor(enter, "7")).toThrow(TOO_MANY_CALLS);
    expect(() => enterFor(enter, "8")).not.toThrow();
    expect(() => enterFor(enter, "8")).toThrow(TOO_MANY_CALLS);
  });

  it("admits a call once another call of the provider ends, not once a rejected one does", () => {
    const enter = createAdmission({ total: 10, perProvider: 1 });
    const running = enterFor(enter, "7");
    const rejected = enter();
    expect(() => rejected.assign("7")).toThrow(TOO_MANY_CALLS);
    rejected.release();
    expect(() => enterFor(enter, "7")).toThrow(TOO_MANY_CALLS);
    running.release();
    expect(() => enterFor(enter, "7")).not.toThrow();
  });

  it("of the service leaves room for other providers", () => {
    const enter = createAdmission(ADMISSION_LIMITS);
    for (let call = 0; call < ADMISSION_LIMITS.perProvider; call++) enterFor(enter, "7");
    const rejected = enter();
    expect(() => rejected.assign("7")).toThrow(TOO_MANY_CALLS);
    rejected.release();
    for (let call = 0; call < ADMISSION_LIMITS.perProvider; call++) enterFor(enter, "8");
  });
});

it("the counts are exact after many calls", () => {
  const enter = createAdmission({ total: 3, perProvider: 2 });
  for (let call = 0; call < 10_000; call++) enterFor(enter, String(call % 7)).release();
  for (const provider of ["1", "1", "2"]) enterFor(enter, provider);
  expect(() => enter()).toThrow(OVERLOADED);
});
