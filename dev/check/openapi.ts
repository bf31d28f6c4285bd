/** Checks the OpenAPI documents of `gen/` with Redocly's linter: the rules of OpenAPI 3.1, and its recommended ones. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type CheckResult, ROOT } from "./tool.ts";

const FILES = ["gen/openapi.json", "gen/openapi-service-keys.json"];

/** The problems in the documents, each with its rule and its place. A warning is a problem. */
export async function checkOpenApi(): Promise<CheckResult> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const lint = async (file: string) => {
    const absoluteRef = join(ROOT, file);
    return lintFromString({ source: await readFile(absoluteRef, "utf8"), absoluteRef, config });
  };
  const problems = (await Promise.all(FILES.map(lint))).flat();
  const lines = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ""})`,
  );
  return { outcome: problems.length === 0 ? "passed" : "failed", output: lines.join("\n") };
}
