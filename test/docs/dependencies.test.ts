/** Each package earns its place: the README says why it is there, and names none that is not. */
import { expect, it } from "vitest";
import { codeIn, rootFile, section, tableWith } from "./readme.ts";

const manifest: Record<"dependencies" | "devDependencies", Record<string, string>> = JSON.parse(
  rootFile("package.json"),
);

/** Names of a cell; `-node` behind `@connectrpc/connect` is `@connectrpc/connect-node`. */
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

it("the paragraph below it names those for development", () => {
  const paragraph = section("Dependencies")
    .split("\n")
    .find((line) => line.startsWith("For development: "));
  const named = codeIn(paragraph ?? "");
  // The types of a package come with it.
  const installed = Object.keys(manifest.devDependencies).filter((name) => !/^@types\//.test(name));
  // `buf` is how people call @bufbuild/buf.
  const isMeant = (name: string, called: string) => name === called || name.endsWith(`/${called}`);
  expect(installed.filter((name) => !named.some((called) => isMeant(name, called)))).toEqual([]);
  expect(named.filter((called) => !installed.some((name) => isMeant(name, called)))).toEqual([]);
});
