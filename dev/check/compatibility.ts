/** Checks with `buf breaking` that the contract is compatible with that of the last release. */
import { copyFile, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastRelease } from "../changelog.ts";
import { type CheckResult, ROOT, runTool } from "./tool.ts";

/**
 * Compares the working tree's contract with that of the last release that CHANGELOG.md names. A change that breaks it
 * is accepted if the changes since then quote what buf says about it, where callers find it.
 *
 * @param root the folder of a repository, with node_modules
 */
export async function checkCompatibility(root = ROOT): Promise<CheckResult> {
  const release = lastRelease(await readFile(join(root, "CHANGELOG.md"), "utf8"));
  if (release === undefined) return notDone("CHANGELOG.md names no release yet");
  const { version, commit, changesSince } = release;
  const missing = await missingCommit(root, version, commit);
  if (missing !== undefined) return missing;
  const result = await compareWith(root, commit);
  return { ...withoutAccepted(result, changesSince), note: `with ${version}` };
}

/** Why the release cannot be compared with, or undefined if its commit is here. */
async function missingCommit(
  root: string,
  version: string,
  commit: string,
): Promise<CheckResult | undefined> {
  const git = (...args: string[]) => runTool("git", args, { cwd: root });
  const name = `${commit}, the commit of ${version}`;
  if ((await git("merge-base", "--is-ancestor", commit, "HEAD")).outcome === "passed") return;
  const shallow = await git("rev-parse", "--is-shallow-repository");
  if (shallow.output.trim() === "false") {
    return {
      outcome: "failed",
      output: `CHANGELOG.md names ${name}: HEAD does not descend from it`,
    };
  }
  if (shallow.outcome !== "passed") return notDone(`without git, there is no ${name}`);
  if ((await git("cat-file", "-e", commit)).outcome === "passed") return;
  return notDone(
    `this clone is shallow, without ${name}.\nFetch it: git fetch --depth 1 origin ${commit}`,
  );
}

async function compareWith(root: string, commit: string): Promise<CheckResult> {
  const folder = await mkdtemp(join(tmpdir(), "revenue-contract-"));
  try {
    const archive = join(folder, "contract.tar");
    const packing = ["archive", `--output=${archive}`, commit, "proto"];
    const packed = await runTool("git", packing, { cwd: root });
    if (packed.outcome !== "passed") return packed;
    await runTool("tar", ["-xf", archive, "-C", folder]);
    // buf compares workspaces with the same modules. All but the contract are of npm packages.
    await copyFile(join(root, "buf.yaml"), join(folder, "buf.yaml"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const args = ["breaking", "--against", folder, "--error-format", "json"];
    return await runTool("buf", args, { cwd: root });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The result without the changes that the changelog quotes. `buf` prints one of them a line, as JSON. */
function withoutAccepted(result: CheckResult, changelog: string): CheckResult {
  if (result.outcome === "passed") return result;
  const left = result.output.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return line === "" ? [] : [line];
    const { path, start_line, message } = JSON.parse(line);
    return changelog.includes(`\`${message}\``) ? [] : [`${path}:${start_line}: ${message}`];
  });
  if (left.length === 0) return { outcome: "passed", output: "" };
  const hint =
    "If it is meant: quote the message, in backticks, in CHANGELOG.md under Incompatible.";
  return { outcome: "failed", output: [...left, hint].join("\n") };
}

function notDone(reason: string): CheckResult {
  return { outcome: "NOT DONE", note: "!", output: reason };
}
