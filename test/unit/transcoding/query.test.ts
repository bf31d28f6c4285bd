import fc from "fast-check";
import { expect, test } from "vitest";
import { forEachParameter } from "../../../src/gateway/transcoding/query.ts";
import { RequestError } from "../../../src/gateway/transcoding/request-error.ts";

function pairs(query: string): [string, string][] {
  const taken: [string, string][] = [];
  forEachParameter(query, (name, value) => taken.push([name, value]));
  return taken;
}

test.each<[string, [string, string][]]>([
  ["", []],
  ["&&", []],
  ["a=1", [["a", "1"]]],
  ["a", [["a", ""]]],
  ["a=", [["a", ""]]],
  ["=x", [["", "x"]]],
  ["=", [["", ""]]],
  ["a=1=2", [["a", "1=2"]]],
  [
    "&a=1&&b=2&",
    [
      ["a", "1"],
      ["b", "2"],
    ],
  ],
  [
    "a=1&a=1",
    [
      ["a", "1"],
      ["a", "1"],
    ],
  ],
  ["a=1+2", [["a", "1 2"]]],
  ["a=1%2B2", [["a", "1+2"]]],
  ["%61=%C3%A9", [["a", "é"]]],
  ["__proto__=1", [["__proto__", "1"]]],
  [
    "a=?&b=/",
    [
      ["a", "?"],
      ["b", "/"],
    ],
  ],
])("%j is %j", (query, expected) => {
  expect(pairs(query)).toEqual(expected);
});

test.each([
  ["a=%", 'query parameter "a": "%" is not percent-encoded UTF-8 (RFC 3986)'],
  ["a=%zz", 'query parameter "a": "%zz" is not percent-encoded UTF-8 (RFC 3986)'],
  ["a=%E9", 'query parameter "a": "%E9" is not percent-encoded UTF-8 (RFC 3986)'],
  ["a=%ED%A0%80", 'query parameter "a": "%ED%A0%80" is not percent-encoded UTF-8 (RFC 3986)'],
  ["a=é", 'query parameter "a": "é" is not percent-encoded UTF-8 (RFC 3986)'],
  ["%2=1", 'query parameter "%2": "%2" is not percent-encoded UTF-8 (RFC 3986)'],
])("%j is refused, and the parameter named", (query, message) => {
  expect(() => pairs(query)).toThrow(new RequestError(message));
});

test("what URLSearchParams writes is read as it was", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (expected) => {
      expect(pairs(new URLSearchParams(expected).toString())).toEqual(expected);
    }),
  );
});
