/** The README's table of commands and the scripts of package.json say the same. */
import { expect, it } from "vitest";
import { codeIn, rootFile, tableWith } from "./readme.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(rootFile("package.json"));

/** `npm start` and `npm test` are scripts too. */
function scriptOf(command: string): string {
  return command.match(/^npm (?:run )?([\w-]+)/)?.[1] ?? "";
}

const listed = tableWith("command", "does").flatMap(([command = ""]) =>
  codeIn(command)
    .filter((code) => code.startsWith("npm "))
    .map(scriptOf),
);

it("each command is a script", () => {
  expect(listed.filter((name) => !(name in scripts))).toEqual([]);
});

it("each script is a command, or a contributor's, or npm's before another", () => {
  const contributors = [...rootFile("CONTRIBUTING.md").matchAll(/^\$ .*?(npm run \S+)/gm)];
  const known = [...listed, ...contributors.map(([, command = ""]) => scriptOf(command))];
  const isHook = (name: string) =>
    /^(pre|post)/.test(name) && name.replace(/^p(re|ost)/, "") in scripts;
  const unknown = Object.keys(scripts).filter((name) => !known.includes(name) && !isHook(name));
  expect(unknown).toEqual([]);
});

it("what is run where node may be an old one starts with plain JavaScript", () => {
  for (const name of ["demo", "test", "check"]) {
    const first = scripts[`pre${name}`] ?? scripts[name];
    expect(first).toMatch(/^node dev\/install\.js\b/);
  }
});
