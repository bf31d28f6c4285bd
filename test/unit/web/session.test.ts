/** The key that a tab keeps: in its own storage, and nowhere if a person blocks site data. */
import { afterEach, expect, it, vi } from "vitest";
import { forgetKey, storedKey, storeKey } from "../../../web/src/session.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("it is kept until it is forgotten", () => {
  const items = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => items.set(name, value),
    removeItem: (name: string) => items.delete(name),
  });
  expect(storedKey()).toBeUndefined();
  storeKey("rvk_x");
  expect(storedKey()).toBe("rvk_x");
  forgetKey();
  expect([...items]).toEqual([]);
});

it("where site data is blocked nothing is kept, and nothing fails", () => {
  vi.stubGlobal("sessionStorage", undefined);
  Object.defineProperty(globalThis, "sessionStorage", {
    configurable: true,
    get: () => expect.fail("The operation is insecure."),
  });
  storeKey("rvk_x");
  forgetKey();
  expect(storedKey()).toBeUndefined();
});
