/** The flags of every npm script that has some, as they are typed. */
import { expect, it } from "vitest";
import { runProgram } from "../../support/commands/run-command.ts";

const npm = (...args: string[]) => runProgram("npm", ["--silent", ...args]);

it.each([
  ["start"],
  ["run", "migrate"],
  ["run", "key"],
  ["run", "rollup"],
  ["run", "seed"],
  ["run", "demo"],
  ["run", "mutants"],
])(
  "npm %s %s: --help prints how it is used, and a flag that it lacks is a mistake",
  async (...script) => {
    const typed = `npm ${script.join(" ")} --`;
    expect(await npm(...script, "--", "--help")).toEqual({
      code: 0,
      stdout: expect.stringMatching(RegExp(`^Usage: ${typed} \\[options\\].*--help`, "s")),
      stderr: "",
    });
    expect(await npm(...script, "--", "--no-such")).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: unknown option '--no-such'\n(${typed} --help lists the flags)\n`,
    });
  },
);

it("a mistyped flag is told with the one that was meant", async () => {
  const { stderr } = await npm("run", "migrate", "--", "--chek");
  expect(stderr).toContain("Did you mean --check?");
});
