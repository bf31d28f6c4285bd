/**
 * `npm run check`: types, lint, formatting, the contract's rules, its
 * compatibility with the main branch, and generated code that is up to date.
 * A line for each, and the tool's words where one fails. Changes no file.
 */
import { checkCompatibility } from "./check/compatibility.ts";
import { checkGeneratedCode } from "./check/generated-code.ts";
import { runTool, type Verdict } from "./check/tool.ts";

const checks: Record<string, () => Promise<Verdict>> = {
  types: () => runTool("tsc", ["-p", "."]),
  "lint and formatting": () => runTool("biome", ["check", "--error-on-warnings", "."]),
  "proto lint": () => runTool("buf", ["lint"]),
  "proto formatting": () => runTool("buf", ["format", "--diff", "--exit-code", "proto"]),
  "proto compatibility": checkCompatibility,
  "generated code": checkGeneratedCode,
};

const verdicts = await Promise.all(
  Object.entries(checks).map(async ([name, check]) => {
    const begun = performance.now();
    const verdict = await check();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(`${verdict.outcome.padEnd(8)} ${name} (${verdict.note ?? `${seconds} s`})`);
    if (verdict.outcome !== "passed") console.log(indented(verdict.words));
    return verdict;
  }),
);

if (verdicts.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;

function indented(words: string): string {
  return words.trimEnd().replaceAll(/^(?=.)/gm, "    ");
}
