/** `npm run check` compares the contract with that of the last release, in any clone. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { checkCompatibility } from "../../../dev/check/compatibility.ts";
import { ROOT } from "../../../dev/check/tool.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "revenue-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
const git = (root: string, ...args: string[]) =>
  execFileSync("git", [...AUTHOR, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();

function edit(root: string, path: string, change: (text: string) => string): void {
  const file = join(root, path);
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

function commitAll(root: string): string {
  git(root, "add", "--all", "--", ".", ":!node_modules");
  git(root, "commit", "--message", "A step");
  return git(root, "rev-parse", "HEAD");
}

const UNRELEASED = "# Changelog\n\n## [Unreleased]\n";
const released = (commit: string) => `${UNRELEASED}
## [0.2.0] - 2026-11-22

Commit \`${commit}\`, tag \`v0.2.0\`.
`;

/** A repository with the contract of this one. */
let root: string;
beforeEach(() => {
  root = newFolder();
  for (const path of ["proto", "buf.yaml"]) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, "CHANGELOG.md"), UNRELEASED);
  git(root, "init", "--quiet");
});

const PROTO = "proto/revenue/v1/revenue.proto";
const rename = (text: string) => text.replaceAll("GetOverview", "FetchOverview");
const MESSAGE = 'Previously present RPC "GetOverview" on service "RevenueService" was deleted.';

it("refuses what breaks the last release, of any commit since, unless the changelog quotes it", async () => {
  const commit = commitAll(root);
  expect((await checkCompatibility(root)).output).toBe("CHANGELOG.md names no release yet");
  writeFileSync(join(root, "CHANGELOG.md"), released(commit));
  edit(root, PROTO, rename);
  const broken = await checkCompatibility(root);
  expect(broken.outcome).toBe("failed");
  expect(broken.output).toContain(`${PROTO}:`);
  expect(broken.output).toContain(MESSAGE);
  // The commit makes no release of it.
  commitAll(root);
  const messages = [...broken.output.matchAll(/(?<=:\d+: ).*$/gm)].map(([message]) => message);
  const quoted = messages.map((message) => `- \`${message}\`: for a reason.\n`).join("");
  edit(root, "CHANGELOG.md", (text) =>
    text.replace("## [0.2.0]", `### Incompatible\n\n${quoted}\n## [0.2.0]`),
  );
  expect(await checkCompatibility(root)).toMatchObject({ outcome: "passed", note: "with 0.2.0" });
});

it("says what a shallow clone lacks, and compares when it has been fetched", async () => {
  const commit = commitAll(root);
  git(root, "tag", "v0.2.0");
  writeFileSync(join(root, "CHANGELOG.md"), released(commit));
  edit(root, PROTO, rename);
  commitAll(root);
  git(root, "config", "uploadpack.allowAnySHA1InWant", "true");
  const clone = join(newFolder(), "clone");
  git(root, "clone", "--quiet", "--depth", "1", "--no-tags", `file://${root}`, clone);
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));

  const missing = await checkCompatibility(clone);
  expect(missing).toMatchObject({
    outcome: "NOT DONE",
    output: `this clone is shallow, without ${commit}, the commit of 0.2.0.\nFetch it: git fetch --depth 1 origin ${commit}`,
  });
  git(clone, ...(missing.output.match(/(?<=git ).*$/)?.[0].split(" ") ?? []));
  expect(await checkCompatibility(clone)).toMatchObject({ outcome: "failed" });
});

it("refuses a commit that a complete clone does not descend from, and does without a repository", async () => {
  commitAll(root);
  const commit = "1".repeat(40);
  writeFileSync(join(root, "CHANGELOG.md"), released(commit));
  expect(await checkCompatibility(root)).toMatchObject({
    outcome: "failed",
    output: `CHANGELOG.md names ${commit}, the commit of 0.2.0: HEAD does not descend from it`,
  });
  rmSync(join(root, ".git"), { recursive: true });
  expect(await checkCompatibility(root)).toMatchObject({ outcome: "NOT DONE" });
});
