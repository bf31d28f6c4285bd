/** The key that a tab keeps: nowhere if a person blocks site data. That it is kept is asked in Chromium. */
import { expect, it } from "vitest";
import { forgetKey, storedKey, storeKey } from "../../../web/src/session.ts";

it("where site data is blocked nothing is kept, and nothing fails", () => {
  Object.defineProperty(globalThis, "sessionStorage", {
    configurable: true,
    get: () => expect.fail("The operation is insecure."),
  });
  storeKey("rvk_x");
  forgetKey();
  expect(storedKey()).toBeUndefined();
});
