/** Whether `gen/` is what `npm run generate` makes of the contract. */
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runTool, type Verdict } from "./tool.ts";

/** Generates into a temporary folder and names the files that differ. */
export async function checkGeneratedCode(): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), "revenue-generated-"));
  try {
    const generated = await runTool("buf", ["generate", "--output", folder]);
    if (generated.outcome !== "passed") return generated;
    const differences = compare(
      await filesBelow(join(folder, "gen")),
      await filesBelow(join(ROOT, "gen")),
    );
    if (differences.length === 0) return { outcome: "passed", words: "" };
    return { outcome: "failed", words: `${differences.join("\n")}\nRun: npm run generate` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every file below a folder, by its path in it. */
async function filesBelow(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of glob("**", { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), await readFile(path, "utf8"));
  }
  return files;
}

function compare(fresh: Map<string, string>, present: Map<string, string>): string[] {
  const paths = [...new Set([...fresh.keys(), ...present.keys()])].sort();
  return paths.flatMap((path) => {
    if (!present.has(path)) return `missing: gen/${path}`;
    if (!fresh.has(path)) return `not generated any more: gen/${path}`;
    return fresh.get(path) === present.get(path) ? [] : `stale: gen/${path}`;
  });
}
