/** The rules for tests in CONTRIBUTING.md: one time limit, seeds, and the table that tells where the test of a file is. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const COLUMNS = ["unit", "database", "end-to-end", "docs"] as const;

const [, table = ""] = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8").split(
  "### Where the test of a file is",
);
const rows = table
  .split("\n###")[0]
  ?.split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

/** The names in a column, without backticks. */
const namesIn = (column: number) =>
  (rows ?? []).flatMap((cells) =>
    [...(cells[column] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );

it.each(COLUMNS)("it has every folder of test/%s, and names nothing else", (kind) => {
  const folder = join(ROOT, "test", kind);
  const names = namesIn(2 + COLUMNS.indexOf(kind));
  expect(names.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
  const folders = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
  expect(folders.filter((name) => !names.includes(name))).toEqual([]);
});

it("it has every folder of src/", () => {
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}/`);
  const missing = folders.filter((name) => !namesIn(1).includes(name));
  // Its settings are read by one function, whose tests are a file.
  expect(missing).toEqual(["src/config/"]);
});

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
