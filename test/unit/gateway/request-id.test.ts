import { expect, test } from "vitest";
import { requestIdFrom } from "../../../src/rpc/request-id.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each(["a", "req-1", "A1._:+=/-", "x".repeat(128)])("%j is taken over", (id) => {
  expect(requestIdFrom(id)).toBe(id);
  expect(requestIdFrom([id])).toBe(id);
});

test.each([undefined, "", "a b", "a,b", "a\nb", 'a"b', "é", "x".repeat(129)])(
  "%j is replaced by a UUID",
  (value) => {
    expect(requestIdFrom(value)).toMatch(UUID);
  },
);

test("a header that came twice, or never, is replaced by a UUID", () => {
  expect(requestIdFrom(["a", "b"])).toMatch(UUID);
  expect(requestIdFrom([])).toMatch(UUID);
});
