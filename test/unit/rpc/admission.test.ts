import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { ADMISSION_BOUNDS, createAdmission } from "../../../src/rpc/admission.ts";

const OVERLOADED = new ServiceError("overloaded");
const TOO_MANY = new ServiceError("tooManyCalls");

describe("admission", () => {
  it("lets in as many calls as it is told, and refuses the next as overload", () => {
    const admission = createAdmission({ total: 2, perProvider: 2 });
    admission.enter();
    admission.enter();
    expect(() => admission.enter()).toThrow(OVERLOADED);
  });

  it("lets the next one in when one is over, whether it was counted for a provider or not", () => {
    const admission = createAdmission({ total: 1, perProvider: 1 });
    admission.enter();
    admission.leave(undefined);
    admission.enter();
    admission.enterFor("7");
    expect(() => admission.enter()).toThrow(OVERLOADED);
    admission.leave("7");
    expect(() => admission.enter()).not.toThrow();
  });

  it("refuses a provider that has too many, and lets the others in", () => {
    const admission = createAdmission({ total: 10, perProvider: 2 });
    for (const provider of ["7", "7", "8"]) {
      admission.enter();
      admission.enterFor(provider);
    }
    admission.enter();
    expect(() => admission.enterFor("7")).toThrow(TOO_MANY);
    admission.enterFor("8");
  });

  it("lets a provider in again when one of its calls is over", () => {
    const admission = createAdmission({ total: 10, perProvider: 1 });
    admission.enter();
    admission.enterFor("7");
    admission.enter();
    expect(() => admission.enterFor("7")).toThrow(TOO_MANY);
    admission.leave(undefined); // the refused one
    expect(() => admission.enterFor("7")).toThrow(TOO_MANY);
    admission.leave("7");
    admission.enter();
    expect(() => admission.enterFor("7")).not.toThrow();
  });

  it("comes back to nothing after any number of calls", () => {
    const admission = createAdmission({ total: 3, perProvider: 2 });
    for (let call = 0; call < 10_000; call++) {
      admission.enter();
      admission.enterFor(String(call));
      admission.leave(String(call));
    }
    for (const provider of ["1", "1", "2"]) {
      admission.enter();
      admission.enterFor(provider);
    }
    expect(() => admission.enter()).toThrow(OVERLOADED);
  });

  it("leaves room for others beside the busiest provider", () => {
    expect(ADMISSION_BOUNDS.perProvider).toBeLessThan(ADMISSION_BOUNDS.total);
  });
});
