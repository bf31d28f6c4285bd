/** Checks `gen/openapi.json` with Redocly's linter: the rules of OpenAPI 3.1, and its recommended ones. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type CheckResult, ROOT } from "./tool.ts";

/** The problems in the document, each with its rule and its place. A warning is a problem. */
export async function checkOpenApi(): Promise<CheckResult> {
  const path = join(ROOT, "gen/openapi.json");
  const config = await createConfig({ extends: ["recommended-strict"] });
  const source = await readFile(path, "utf8");
  const problems = await lintFromString({ source, absoluteRef: path, config });
  const lines = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`,
  );
  return { outcome: lines.length === 0 ? "passed" : "failed", output: lines.join("\n") };
}
