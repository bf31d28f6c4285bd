/** Tokens that were forged with the right hash, which is no secret, have contents of the right form, or are refused. */
import { expect, it } from "vitest";
import { fromPageToken, toPageToken } from "../../../src/revenue/page-token.ts";
import { PLACE_FORM } from "../../../src/revenue/pages.ts";

const REQUEST = { list: "things", owner: "1", parameters: { startDate: "", endDate: "5" } };
const CHANGED = "(it was changed, is of another version, or belongs to another list or provider)";

it.each([
  ["2026-11-20 09:30:00.000", "1"],
  ["0000-00-00 00:00:00.000", "18446744073709551615"],
])("the contents %s, %s are read from their token", (...contents) => {
  const token = toPageToken(REQUEST, contents);
  expect(token).toMatch(/^[\w-]+$/);
  expect(fromPageToken(token, REQUEST, PLACE_FORM)).toEqual(contents);
});

it.each([
  [{ list: "others" }, CHANGED],
  [{ owner: "2" }, CHANGED],
  [{ parameters: { startDate: "1", endDate: "5" } }, "(its startDate was another one)"],
  [{ parameters: { startDate: "", endDate: "" } }, "(its endDate was another one)"],
])("a token is refused with %j", (other, reason) => {
  const token = toPageToken(REQUEST, ["2026-11-20 09:30:00.000", "1"]);
  const read = () => fromPageToken(token, { ...REQUEST, ...other }, PLACE_FORM);
  expect(read).toThrow(reason);
});

it.each([
  ["2026-11-20", "1"],
  ["2026-11-20 09:30:00.000", "-1"],
  ["2026-11-20 09:30:00.000", "1 OR 1"],
  ["' OR 1", "1"],
])("a token with the contents %j, %j is none", (...contents) => {
  const token = toPageToken(REQUEST, contents);
  expect(() => fromPageToken(token, REQUEST, PLACE_FORM)).toThrow(CHANGED);
});

it("a token of another version is told as that", () => {
  const texts = JSON.parse(
    Buffer.from(toPageToken(REQUEST, ["2026-11-20 09:30:00.000", "1"]), "base64url").toString(),
  );
  const other = Buffer.from(JSON.stringify(["2", ...texts.slice(1)])).toString("base64url");
  expect(() => fromPageToken(other, REQUEST, PLACE_FORM)).toThrow(
    "(it is of another version of the service)",
  );
});
