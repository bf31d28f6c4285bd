/** Checks with `buf breaking` that the contract is compatible with the main branch's. */
import { copyFile, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptedChanges } from "./accepted-changes.ts";
import { type CheckResult, ROOT, runTool } from "./tool.ts";

const MAIN_BRANCHES = ["origin/main", "main"];

/**
 * Compares the working tree's contract with the main branch's, but for `acceptedChanges`. If HEAD is the main branch's
 * commit, as in a fresh clone, the contract is also compared with the parent commit's: otherwise
 * a commit would only be compared with itself.
 */
export async function checkCompatibility(): Promise<CheckResult> {
  const main = await firstExisting(MAIN_BRANCHES);
  if (main === undefined) {
    return notDone(`no branch to compare with: ${MAIN_BRANCHES.join(", ")}`);
  }
  const atMain = (await commitOf(main)) === (await commitOf("HEAD"));
  const parent = atMain ? await firstExisting(["HEAD^"]) : undefined;
  const bases = parent === undefined ? [main] : [main, parent];

  for (const base of bases) {
    const result = await compareWith(base);
    if (result.outcome !== "passed") return result;
  }
  return { outcome: "passed", note: `with ${bases.join(" and ")}`, output: "" };
}

async function compareWith(revision: string): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), "revenue-contract-"));
  try {
    const archive = join(folder, "contract.tar");
    const packed = await git("archive", `--output=${archive}`, revision, "proto");
    if (packed.outcome !== "passed") {
      return notDone(`git archive of ${revision} failed: ${packed.output}`);
    }
    await runTool("tar", ["-xf", archive, "-C", folder]);
    // buf compares workspaces with the same modules. All but the contract are of npm packages.
    await copyFile(join(ROOT, "buf.yaml"), join(folder, "buf.yaml"));
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const args = ["breaking", "--against", folder, "--error-format", "json"];
    return { ...withoutAccepted(await runTool("buf", args)), note: `with ${revision}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The result without the changes that are accepted. `buf` prints one of them a line, as JSON. */
function withoutAccepted(result: CheckResult): CheckResult {
  if (result.outcome === "passed") return result;
  const accepted = new Set(acceptedChanges.map(({ message }) => message));
  const left = result.output
    .split("\n")
    .filter((line) => line && !(line.startsWith("{") && accepted.has(JSON.parse(line).message)));
  return { outcome: left.length > 0 ? "failed" : "passed", output: left.join("\n") };
}

async function firstExisting(revisions: readonly string[]): Promise<string | undefined> {
  for (const revision of revisions) {
    if ((await commitOf(revision)) !== undefined) return revision;
  }
  return undefined;
}

async function commitOf(revision: string): Promise<string | undefined> {
  const found = await git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  return found.outcome === "passed" ? found.output.trim() : undefined;
}

function git(...args: readonly string[]): Promise<CheckResult> {
  return runTool("git", args);
}

function notDone(reason: string): CheckResult {
  return { outcome: "NOT DONE", note: "!", output: `${reason}\nFetch it: git fetch origin main` };
}
