/** docs/architecture.md gives a reason for each dependency, and names no other package. */
import { expect, it } from "vitest";
import { codeIn, rootFile, section, tableWith } from "./markdown.ts";

const manifest: Record<"dependencies" | "devDependencies", Record<string, string>> = JSON.parse(
  rootFile("package.json"),
);

/** The names in a cell; `-node` after `@connectrpc/connect` is `@connectrpc/connect-node`. */
function packagesIn(cell: string): string[] {
  const [first = "", ...others] = codeIn(cell);
  return [first, ...others.map((name) => (name.startsWith("-") ? first + name : name))];
}

it("the table names the dependencies", () => {
  const named = tableWith("package", "why").flatMap(([packages = ""]) => packagesIn(packages));
  expect(named.sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

it("each of them has a reason", () => {
  for (const [packages, why = ""] of tableWith("package", "why")) {
    expect(why.length, packages).toBeGreaterThan(10);
  }
});

it("the paragraph below the table names the development dependencies", () => {
  const paragraph = section("docs/architecture.md", "Dependencies")
    .split("\n")
    .find((line) => line.startsWith("For development: "));
  const named = codeIn(paragraph ?? "");
  // The types of a package come with it.
  const installed = Object.keys(manifest.devDependencies).filter((name) => !/^@types\//.test(name));
  // `buf` is short for @bufbuild/buf.
  const matches = (name: string, short: string) => name === short || name.endsWith(`/${short}`);
  expect(installed.filter((name) => !named.some((short) => matches(name, short)))).toEqual([]);
  expect(named.filter((short) => !installed.some((name) => matches(name, short)))).toEqual([]);
});
