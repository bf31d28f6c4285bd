/** The rules for tests in CONTRIBUTING.md: one time limit, seeds, and where the test of a file is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

/** What CONTRIBUTING.md says of folders whose names do not say it. */
const [, named = ""] = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8").split(
  "### Where the test of a file is",
);

const foldersOf = (folder: string) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
const ofCode = ["src", "dev", "."].flatMap(foldersOf);

it.each(["unit", "database", "end-to-end", "docs"])(
  "each folder of test/%s has the name of one of the code, or is named in CONTRIBUTING.md",
  (kind) => {
    const others = foldersOf(`test/${kind}`).filter((name) => !ofCode.includes(name));
    expect(others.filter((name) => !named.includes(`\`test/${kind}/${name}/`))).toEqual([]);
  },
);

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
