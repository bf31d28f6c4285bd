/** What every file of the service keeps to (`style.md`, habits 1, 6 and 7). */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, ROOT, reachableFrom, type SourceFile, sources } from "./source.ts";

const LONGEST = 250;

/** The paths of the files that do not keep to a rule. */
function breakers(files: readonly SourceFile[], breaks: (file: SourceFile) => boolean): string[] {
  return files.filter(breaks).map(({ path }) => path);
}

const isMigration = ({ path }: SourceFile) => path.includes("/migrations/");

it("opens with a comment that says what it is", () => {
  // A migration says it of its `up`: the import before it is the same in all of them.
  const opens = (file: SourceFile) =>
    isMigration(file) ? /^import .*\n\n\/\*\*/.test(file.text) : file.text.startsWith("/**");
  expect(breakers(sources, (file) => !opens(file))).toEqual([]);
});

it("is named by its noun", () => {
  const empty = /^data$|\b(utils?|helpers?|common|managers?|misc)\b/i;
  const names = (path: string) => path.split("/").map((name) => posix.basename(name, ".ts"));
  expect(breakers(sources, ({ path }) => names(path).some((name) => empty.test(name)))).toEqual([]);
});

it(`has no more than ${LONGEST} lines`, () => {
  const files = ["src", "dev", "bench"].flatMap(filesBelow);
  const lines = (text: string) => text.trimEnd().split("\n").length;
  expect(breakers(files, ({ text }) => lines(text) > LONGEST)).toEqual([]);
});

it("gives up no type", () => {
  expect(
    breakers(sources, ({ code }) => /[:<|&(,]\s*any\b|\bas any\b|\bany\[\]/.test(code)),
  ).toEqual([]);
});

it("silences no check", () => {
  const silencer = /@ts-(ignore|expect-error|nocheck)|biome-ignore/;
  expect(breakers(sources, ({ text }) => silencer.test(text))).toEqual([]);
});

it("leaves nothing to do", () => {
  expect(breakers(sources, ({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text))).toEqual([]);
});

it("reads the environment only where it is an entrance", () => {
  expect(breakers(sources, ({ code }) => code.includes("process.env"))).toEqual([
    "src/cli/run.ts",
    "src/main.ts",
  ]);
});

it("is needed by what npm starts, or is a migration", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const started = JSON.stringify(scripts).match(/\bsrc\/[\w/-]+\.ts/g) ?? [];
  const reached = reachableFrom([...started, ...breakers(sources, isMigration)]);
  expect(breakers(sources, ({ path }) => !reached.has(path))).toEqual([]);
});

it("there are no more than a dozen files side by side in a folder", () => {
  // Migrations only ever grow in number; their names are their table of contents.
  const folders = ["src", "dev", "bench", "test"]
    .flatMap((folder) => filesBelow(folder))
    .filter((file) => !isMigration(file))
    .map(({ path }) => posix.dirname(path));
  const counts = Map.groupBy(folders, (folder) => folder);
  expect([...counts].filter(([, { length }]) => length > 12).map(([folder]) => folder)).toEqual([]);
});
