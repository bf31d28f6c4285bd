/** The rules for source files in CONTRIBUTING.md: size, no loose ends; and their packages. */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, ROOT, reachableFrom, type SourceFile, sources } from "./source.ts";

const LONGEST = 250;

/** The paths of the files that violate a rule. */
function violations(
  files: readonly SourceFile[],
  violates: (file: SourceFile) => boolean,
): string[] {
  return files.filter(violates).map(({ path }) => path);
}

const isMigration = ({ path }: SourceFile) => path.includes("/migrations/");

it(`no file has more than ${LONGEST} lines`, () => {
  const files = ["src", "dev", "bench"].flatMap(filesBelow);
  const lines = (text: string) => text.trimEnd().split("\n").length;
  expect(violations(files, ({ text }) => lines(text) > LONGEST)).toEqual([]);
});

it("only entry points read the environment", () => {
  expect(violations(sources, ({ code }) => code.includes("process.env"))).toEqual([
    "src/cli/run.ts",
    "src/main.ts",
  ]);
});

const manifestIn = (folder: string) =>
  JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));

it("the production dependencies are the packages that src/ imports, and their peers", () => {
  const names = sources
    .flatMap(({ imports }) => imports)
    .filter((name) => !/^(src|gen)\/|^node:/.test(name))
    .map((name) => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name);
  // The generated code imports it.
  const imported = new Set(["@bufbuild/protobuf", ...names]);
  const peers = [...imported].flatMap((name) =>
    Object.keys(manifestIn(`node_modules/${name}`).peerDependencies ?? {}),
  );
  const dependencies = Object.keys(manifestIn(".").dependencies);
  expect([...imported].filter((name) => !dependencies.includes(name))).toEqual([]);
  const needed = [...imported, ...peers];
  expect(dependencies.filter((name) => !needed.includes(name))).toEqual([]);
});

it("every file is a migration, or is imported by a script of npm, directly or indirectly", () => {
  const { scripts } = manifestIn(".");
  const started = JSON.stringify(scripts).match(/\bsrc\/[\w/-]+\.ts/g) ?? [];
  const reached = reachableFrom([...started, ...violations(sources, isMigration)]);
  expect(violations(sources, ({ path }) => !reached.has(path))).toEqual([]);
});

it("no folder has more than twenty files", () => {
  // The folder of the migrations is exempt: it can only grow.
  const folders = ["src", "dev", "bench", "test"]
    .flatMap((folder) => filesBelow(folder))
    .filter((file) => !isMigration(file))
    .map(({ path }) => posix.dirname(path));
  const counts = Map.groupBy(folders, (folder) => folder);
  expect([...counts].filter(([, { length }]) => length > 20).map(([folder]) => folder)).toEqual([]);
});
