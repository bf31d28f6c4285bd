/** The code of the last release, beside this one. */
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { lastRelease } from "./changelog.ts";
import { createSupervisedFolder } from "./private-database/supervised-folder.ts";

const ROOT = join(import.meta.dirname, "..");

const git = (...args: readonly string[]) =>
  execFileSync("git", args, { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 28 });

/** The release that CHANGELOG.md names, and whether its commit is in this clone. */
export function findRelease() {
  const release = lastRelease(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"));
  if (release === undefined) throw new Error("CHANGELOG.md names no release");
  const { version, commit } = release;
  let isHere = true;
  try {
    git("cat-file", "-e", `${commit}^{commit}`);
  } catch {
    isHere = false;
  }
  return { version, commit, isHere };
}

/**
 * Puts the code of a commit into a temporary folder, with the packages of this version: those of production have to
 * be the same, or close enough. It is gone when this process ends, however it does.
 */
export function unpackRelease(commit: string) {
  const { path: folder, remove } = createSupervisedFolder("revenue-release-");
  const archive = git("archive", commit, "src", "gen", "package.json");
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return { folder, remove };
}
