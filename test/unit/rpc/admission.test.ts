import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { ADMISSION_LIMITS, type Admission, createAdmission } from "../../../src/rpc/admission.ts";

const OVERLOADED = new ServiceError("overloaded");
const TOO_MANY_CALLS = new ServiceError("tooManyCalls");

/** Admits a call of a provider. */
function enterFor(admission: Admission, providerId: string) {
  const slot = admission.enter();
  slot.assign(providerId);
  return slot;
}

describe("the total limit", () => {
  it("rejects the next call as overloaded", () => {
    const admission = createAdmission({ total: 2, perProvider: 2 });
    admission.enter();
    admission.enter();
    expect(() => admission.enter()).toThrow(OVERLOADED);
    expect(() => admission.enter()).toThrow(OVERLOADED); // a rejected call frees nothing
  });

  it("admits a call for each one that ends, with or without a provider", () => {
    const admission = createAdmission({ total: 1, perProvider: 1 });
    admission.enter().release();
    const slot = enterFor(admission, "7");
    expect(() => admission.enter()).toThrow(OVERLOADED);
    slot.release();
    expect(() => admission.enter()).not.toThrow();
  });
});

describe("the limit per provider", () => {
  it("rejects the provider's next call and admits other providers'", () => {
    const admission = createAdmission({ total: 10, perProvider: 2 });
    for (const provider of ["7", "7", "8"]) enterFor(admission, provider);
    expect(() => enterFor(admission, "7")).toThrow(TOO_MANY_CALLS);
    expect(() => enterFor(admission, "8")).not.toThrow();
    expect(() => enterFor(admission, "8")).toThrow(TOO_MANY_CALLS);
  });

  it("admits a call once another call of the provider ends, not once a rejected one does", () => {
    const admission = createAdmission({ total: 10, perProvider: 1 });
    const running = enterFor(admission, "7");
    const rejected = admission.enter();
    expect(() => rejected.assign("7")).toThrow(TOO_MANY_CALLS);
    rejected.release();
    expect(() => enterFor(admission, "7")).toThrow(TOO_MANY_CALLS);
    running.release();
    expect(() => enterFor(admission, "7")).not.toThrow();
  });

  it("of the service leaves room for other providers", () => {
    const admission = createAdmission(ADMISSION_LIMITS);
    for (let call = 0; call < ADMISSION_LIMITS.perProvider; call++) enterFor(admission, "7");
    const rejected = admission.enter();
    expect(() => rejected.assign("7")).toThrow(TOO_MANY_CALLS);
    rejected.release();
    for (let call = 0; call < ADMISSION_LIMITS.perProvider; call++) enterFor(admission, "8");
  });
});

it("the counts are exact after many calls", () => {
  const admission = createAdmission({ total: 3, perProvider: 2 });
  for (let call = 0; call < 10_000; call++) enterFor(admission, String(call % 7)).release();
  for (const provider of ["1", "1", "2"]) enterFor(admission, provider);
  expect(() => admission.enter()).toThrow(OVERLOADED);
});
