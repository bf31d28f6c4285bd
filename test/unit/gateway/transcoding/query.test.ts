import fc from "fast-check";
import { expect, test } from "vitest";
import { forEachParameter } from "../../../../src/gateway/transcoding/query.ts";
import { RequestError } from "../../../../src/gateway/transcoding/request-error.ts";
import { anyText } from "../../../support/any-text.ts";

function pairs(query: string): [string, string][] {
  const visited: [string, string][] = [];
  forEachParameter(query, (name, value) => visited.push([name, value]));
  return visited;
}

test.each<[string, ...[string, string][]]>([
  ["&&"],
  ["a", ["a", ""]],
  ["=", ["", ""]],
  ["a=1=2", ["a", "1=2"]],
  ["&a=1&&a=1&", ["a", "1"], ["a", "1"]],
  ["a=?/", ["a", "?/"]],
])("%j is parsed as %j", (query, ...expected) => {
  expect(pairs(query)).toEqual(expected);
});

test.each([
  ["a=%", 'query parameter "a": expected percent-encoded UTF-8 (RFC 3986), got "%"'],
  [
    "a=%ED%A0%80",
    'query parameter "a": expected percent-encoded UTF-8 (RFC 3986), got "%ED%A0%80"',
  ],
  ["a=é", 'query parameter "a": expected percent-encoded UTF-8 (RFC 3986), got "é"'],
  ["%2=1", 'query parameter "%2": expected percent-encoded UTF-8 (RFC 3986), got "%2"'],
])("%j is an error that names the parameter", (query, message) => {
  expect(() => pairs(query)).toThrow(new RequestError(message));
});

test("parsing reverses URLSearchParams", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, anyText)), (expected) => {
      expect(pairs(new URLSearchParams(expected).toString())).toEqual(expected);
    }),
  );
});
