/** The README's table of commands and the scripts of package.json agree. */
import { expect, it } from "vitest";
import { codeIn, commands, rootFile, tableWith } from "../markdown.ts";

const { scripts }: { scripts: Record<string, string> } = JSON.parse(rootFile("package.json"));

/** `npm start` and `npm test` are scripts too. */
function scriptOf(command: string): string {
  return command.match(/\bnpm (?:run )?([\w-]+)/)?.[1] ?? "";
}

const listed = tableWith("command", "does").flatMap(([command = ""]) =>
  codeIn(command).map(scriptOf),
);

it("each command is a script", () => {
  expect(listed.filter((name) => !(name in scripts))).toEqual([]);
});

it("each script is in the table, in a console block, or run by npm before another", () => {
  const known = [...listed, ...commands.map(({ text }) => scriptOf(text))];
  const isHook = (name: string) =>
    name === "version" || // run by npm itself
    (/^(pre|post)/.test(name) && name.replace(/^p(re|ost)/, "") in scripts);
  const unknown = Object.keys(scripts).filter((name) => !known.includes(name) && !isHook(name));
  expect(unknown).toEqual([]);
});

it("a script that may run on an old Node starts with plain JavaScript", () => {
  for (const name of ["demo", "test", "check"]) {
    const first = scripts[`pre${name}`] ?? scripts[name];
    expect(first).toMatch(/^node dev\/install\.js\b/);
  }
});
