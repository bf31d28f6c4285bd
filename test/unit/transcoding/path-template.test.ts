import { expect, test } from "vitest";
import { parsePathTemplate } from "../../../src/gateway/transcoding/path-template.ts";

test.each([
  ["/api", [{ literal: "api" }]],
  ["/api/v1.2/a-b_c~d", [{ literal: "api" }, { literal: "v1.2" }, { literal: "a-b_c~d" }]],
  ["/{id}", [{ variable: "id" }]],
  ["/a/{thing_id}/b", [{ literal: "a" }, { variable: "thing_id" }, { literal: "b" }]],
  ["/{a}/{b2}", [{ variable: "a" }, { variable: "b2" }]],
])("%s is literals and whole-segment variables", (template, segments) => {
  expect(parsePathTemplate(template)).toEqual(segments);
});

test.each([
  ["", 'a template starts with "/": "" at position 0'],
  ["api", 'a template starts with "/": "api" at position 0'],
  ["/", 'an empty segment is not served: "" at position 1'],
  ["/api/", 'an empty segment is not served: "" at position 5'],
  ["//api", 'an empty segment is not served: "" at position 1'],
  ["/a//b", 'an empty segment is not served: "" at position 3'],
  ["/a/*", 'wildcards are not served: "*" at position 3'],
  ["/a/**", 'wildcards are not served: "**" at position 3'],
  ["/a/{b=*}", 'patterns of variables are not served: "=*" at position 5'],
  ["/a/{b=c/*}", 'patterns of variables are not served: "=c" at position 5'],
  ["/a:get", 'verbs are not served: ":get" at position 2'],
  ["/a/{b}:get", 'verbs are not served: ":get" at position 6'],
  ["/a/{b.c}", 'fields of fields are not served: ".c" at position 5'],
  ["/a/{}", 'a variable is named like a field: "" at position 4'],
  ["/a/{1b}", 'a variable is named like a field: "1b" at position 4'],
  ["/a/{b", 'a variable ends in its own segment: "{b" at position 3'],
  ["/a/{b}c", 'a variable is a whole segment: "c" at position 6'],
  ["/a/b{c}", 'a literal segment consists of letters, digits and -._~: "{c}" at position 4'],
  ["/a b", 'a literal segment consists of letters, digits and -._~: " b" at position 2'],
  ["/a%20b", 'a literal segment consists of letters, digits and -._~: "%20b" at position 2'],
  ["/a?b", 'a literal segment consists of letters, digits and -._~: "?b" at position 2'],
  ["/a/..", 'clients resolve dot segments away: ".." at position 3'],
  ["/{a}/{a}", 'the variable "a" occurs twice'],
])("%j is refused with the piece and its position", (template, message) => {
  expect(() => parsePathTemplate(template)).toThrow(new Error(message));
});
