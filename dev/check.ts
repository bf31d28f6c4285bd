/**
 * `npm run check`: types, lint, formatting, the contract's lint rules and compatibility with the last
 * release, whether the generated code is current, the OpenAPI document, the version, and the packages'
 * integrity, licences, signatures and advisories. Prints a line per check, the tool's output if the
 * check does not pass, and at last what could not be checked. Changes no file.
 */
import { checkCompatibility } from "./check/compatibility.ts";
import { checkIntegrity, checkLicenses } from "./check/dependencies.ts";
import { checkGeneratedCode } from "./check/generated-code.ts";
import { checkOpenApi } from "./check/openapi.ts";
import { checkAdvisories, checkSignatures } from "./check/registry.ts";
import { countSentences } from "./check/sentences.ts";
import { type CheckResult, runTool } from "./check/tool.ts";
import { checkVersion } from "./check/version.ts";

const checks: Record<string, () => Promise<CheckResult>> = {
  types: () => runTool("tsc", ["-p", "."]),
  "types of the pages": () => runTool("tsc", ["-p", "web"]),
  "lint and formatting": () => runTool("biome", ["check", "--error-on-warnings", "."]),
  "proto lint": () => runTool("buf", ["lint"]),
  "proto formatting": () => runTool("buf", ["format", "--diff", "--exit-code", "proto"]),
  "proto compatibility": () => checkCompatibility(),
  "generated code": checkGeneratedCode,
  "OpenAPI document": checkOpenApi,
  version: checkVersion,
  "words of the pages": countSentences,
  "integrity of packages": checkIntegrity,
  "licences of packages": checkLicenses,
  "signatures of packages": () => checkSignatures(),
  "advisories of packages": () => checkAdvisories(),
};

const results = await Promise.all(
  Object.entries(checks).map(async ([name, check]) => {
    const startedAt = performance.now();
    const result = await check();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${result.outcome.padEnd(8)} ${name} (${result.note ?? `${seconds} s`})`);
    if (result.outcome !== "passed") console.log(indent(result.output));
    return { ...result, name };
  }),
);

const notDone = results.filter(({ outcome }) => outcome === "NOT DONE").map(({ name }) => name);
if (notDone.length > 0) console.log(`NOT DONE here, see above: ${notDone.join(", ")}`);
if (results.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, "    ");
}
