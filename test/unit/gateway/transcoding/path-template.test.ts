import { expect, test } from "vitest";
import { parsePathTemplate } from "../../../../src/gateway/transcoding/path-template.ts";

test.each([
  ["/api/v1.2/a-b_c~d", [{ literal: "api" }, { literal: "v1.2" }, { literal: "a-b_c~d" }]],
  ["/a/{thing_id}/b", [{ literal: "a" }, { variable: "thing_id" }, { literal: "b" }]],
  ["/{a}/{b2}", [{ variable: "a" }, { variable: "b2" }]],
])("%s is parsed into literals and variables", (template, segments) => {
  expect(parsePathTemplate(template)).toEqual(segments);
});

test.each([
  ["api", 'a template must start with "/": "api" at position 0'],
  ["/api/", 'empty segments are not supported: "" at position 5'],
  ["/a/*", 'wildcards are not supported: "*" at position 3'],
  ["/a/{b=*}", 'variable patterns are not supported: "=*" at position 5'],
  ["/a:get", 'verbs are not supported: ":get" at position 2'],
  ["/a/{b}:get", 'verbs are not supported: ":get" at position 6'],
  ["/a/{b.c}", 'nested field paths are not supported: ".c" at position 5'],
  ["/a/{1b}", 'invalid field name: "1b" at position 4'],
  ["/a/{b", 'unclosed variable: "{b" at position 3'],
  ["/a/{b}c", 'a variable must be a whole segment: "c" at position 6'],
  ["/a/b{c}", 'a literal must consist of letters, digits and -._~: "{c}" at position 4'],
  ["/a%20b", 'a literal must consist of letters, digits and -._~: "%20b" at position 2'],
  ["/a/..", 'dot segments are not supported: clients resolve them: ".." at position 3'],
  ["/{a}/{a}", 'the variable "a" is repeated'],
])("%j is an error with the piece and its position", (template, message) => {
  expect(() => parsePathTemplate(template)).toThrow(new Error(message));
});
