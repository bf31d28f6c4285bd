/** Whether the contract still serves the clients of the main branch: `buf breaking`. */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runTool, type Verdict } from "./tool.ts";

const MAIN_BRANCHES = ["origin/main", "main"];

/**
 * Compares the working tree's contract with the main branch's. Where HEAD is the
 * main branch's own commit, as in a fresh clone, its parent is compared as well:
 * else a commit would be compared with itself alone.
 */
export async function checkCompatibility(): Promise<Verdict> {
  const main = await firstKnown(MAIN_BRANCHES);
  if (main === undefined) {
    return notDone(`there is neither ${MAIN_BRANCHES.join(" nor ")} to compare with`);
  }
  const atMain = (await commitOf(main)) === (await commitOf("HEAD"));
  const parent = atMain ? await firstKnown(["HEAD^"]) : undefined;
  const bases = parent === undefined ? [main] : [main, parent];

  for (const base of bases) {
    const verdict = await compareWith(base);
    if (verdict.outcome !== "passed") return verdict;
  }
  return { outcome: "passed", note: `with ${bases.join(" and ")}`, words: "" };
}

async function compareWith(revision: string): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), "revenue-contract-"));
  try {
    const archive = join(folder, "contract.tar");
    const packed = await git("archive", `--output=${archive}`, revision, "proto", "buf.yaml");
    if (packed.outcome !== "passed") return notDone(`${revision} has no contract: ${packed.words}`);
    await runTool("tar", ["-xf", archive, "-C", folder]);
    // The contract's imports come from npm and are not in git.
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const verdict = await runTool("buf", ["breaking", "--against", folder]);
    return { ...verdict, note: `with ${revision}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function firstKnown(revisions: readonly string[]): Promise<string | undefined> {
  for (const revision of revisions) {
    if ((await commitOf(revision)) !== undefined) return revision;
  }
  return undefined;
}

async function commitOf(revision: string): Promise<string | undefined> {
  const found = await git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  return found.outcome === "passed" ? found.words.trim() : undefined;
}

function git(...args: readonly string[]): Promise<Verdict> {
  return runTool("git", args);
}

function notDone(reason: string): Verdict {
  return { outcome: "NOT DONE", note: "!", words: `${reason}\nFetch it: git fetch origin main` };
}
