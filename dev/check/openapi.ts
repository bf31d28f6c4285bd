/**
 * Checks the OpenAPI documents of `gen/` with Redocly's linter (the rules of OpenAPI 3.1, and its recommended
 * ones) and with Spectral's (`spectral:oas`).
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral, { type RulesetDefinition } from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import { type CheckResult, ROOT } from "./tool.ts";

const FILES = ["gen/openapi.json", "gen/openapi-service-keys.json"];

/** The problems in the documents, each with its rule and its place. A warning is a problem. */
export async function checkOpenApi(): Promise<CheckResult> {
  const problems: string[] = [];
  for (const file of FILES) {
    const path = join(ROOT, file);
    const source = await readFile(path, "utf8");
    problems.push(...(await lintWithRedocly(source, path)), ...(await lintWithSpectral(source)));
  }
  return { outcome: problems.length === 0 ? "passed" : "failed", output: problems.join("\n") };
}

async function lintWithRedocly(source: string, absoluteRef: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef, config });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`,
  );
}

async function lintWithSpectral(source: string): Promise<string[]> {
  const linter = new spectral.Spectral();
  // Its type is that of the object, in which some rules lack fields that the definition requires.
  linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] });
  const problems = await linter.run(source);
  return problems.map(({ code, message, path }) => `${code}: ${message} (#/${path.join("/")})`);
}
