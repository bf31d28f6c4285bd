/** The rules for tests in CONTRIBUTING.md: one time limit, and seeds. */
import { expect, it } from "vitest";
import { filesBelow } from "./source.ts";

/** The lines of the tests, and of what they use of `dev/`, that break a rule. */
function linesWith(pattern: RegExp): string[] {
  return [...filesBelow("test"), ...filesBelow("dev")].flatMap(({ path, code }) =>
    code
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
}

it.each([
  ["test or hook", /^\s*\}, \d[\d_]{3,}\);|^\s*\d[\d_]{3,}( \* .*)?,$|[({] ?timeout: \d[\d_]{3,}/],
  ["request", /AbortSignal\.timeout\(\d/],
  ["program", /child\.kill\(.*\), \d/],
])("no %s has a time limit of its own", (_, pattern) => {
  expect(linesWith(pattern)).toEqual([]);
});

it("what is random has a seed", () => {
  expect(linesWith(/Math\.random\(|(?<!return )fc\.sample\(/)).toEqual([]);
});
