/** Tokens that were forged with the right hash, which is no secret, lead to a position and to no fault. */
import { expect, it } from "vitest";
import { fromPageToken, toPageToken } from "../../../src/revenue/payouts/page-token.ts";

it.each([
  ["2026-11-20 09:30:00.000", "1"],
  ["0000-00-00 00:00:00.000", "18446744073709551615"],
])("the position %s, %s is read from its token", (at, id) => {
  const token = toPageToken({ at, id }, "1 a b");
  expect(token).toMatch(/^[\w-]+$/);
  expect(fromPageToken(token, "1 a b")).toEqual({ at, id });
  expect(fromPageToken(token, "1 a c")).toBeUndefined();
});

it.each([
  ["2026-11-20", "1"],
  ["2026-11-20 09:30:00.000", "-1"],
  ["2026-11-20 09:30:00.000", "1 OR 1"],
  ["' OR 1", "1"],
])("a token of the position %j, %j is none", (at, id) => {
  expect(fromPageToken(toPageToken({ at, id }, ""), "")).toBeUndefined();
});
