/** Checks that `gen/` and the generated parts of the documentation are what `npm run generate` makes. */
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatedDocs, orphans } from "../generated-docs.ts";
import { type CheckResult, ROOT, runTool } from "./tool.ts";

/** Generates into a temporary folder and names the files that differ. */
export async function checkGeneratedCode(): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), "revenue-generated-"));
  try {
    const generated = await runTool("buf", ["generate", "--output", folder]);
    if (generated.outcome !== "passed") return generated;
    const built = await runTool("node", ["dev/web.ts", join(folder, "gen/web")]);
    if (built.outcome !== "passed") return built;
    const differences = [
      ...compare(await filesBelow(join(folder, "gen")), await filesBelow(join(ROOT, "gen"))),
      ...(await staleDocs()),
    ];
    if (differences.length === 0) return { outcome: "passed", output: "" };
    return { outcome: "failed", output: `${differences.join("\n")}\nRun: npm run generate` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function staleDocs(): Promise<string[]> {
  const docs = await generatedDocs();
  const stale = (await orphans(docs)).map((path) => `no longer generated: ${path}`);
  for (const [path, text] of docs) {
    const actual = await readFile(join(ROOT, path), "utf8").catch(() => undefined);
    if (actual !== text) stale.push(`${actual === undefined ? "missing" : "stale"}: ${path}`);
  }
  return stale;
}

/** The contents of every file below a folder, by relative path. */
async function filesBelow(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of glob("**", { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), await readFile(path, "utf8"));
  }
  return files;
}

function compare(expected: Map<string, string>, actual: Map<string, string>): string[] {
  const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return paths.flatMap((path) => {
    if (!actual.has(path)) return `missing: gen/${path}`;
    if (!expected.has(path)) return `no longer generated: gen/${path}`;
    return expected.get(path) === actual.get(path) ? [] : `stale: gen/${path}`;
  });
}
