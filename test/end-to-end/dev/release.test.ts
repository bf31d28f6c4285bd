/** `npm version`, in a repository of its own: what it commits. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { lastRelease } from "../../../dev/changelog.ts";
import { ROOT } from "../../../dev/check/tool.ts";

const root = mkdtempSync(join(tmpdir(), "revenue-release-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MANIFESTS = [
  "package.json",
  "package-lock.json",
  "clients/mcp/package.json",
  "clients/typescript/package.json",
];
const FILES = [...MANIFESTS, "dev/release.ts", "dev/changelog.ts"];

const environment = Object.fromEntries(
  ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"].map((name) => [
    `GIT_${name}`,
    "test@example.com",
  ]),
);
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, ...environment },
  }).trim();

const read = (path: string) => readFileSync(join(root, path), "utf8");
const versionsAt = (revision: string): string[] =>
  MANIFESTS.map((path) => JSON.parse(run("git", "show", `${revision}:${path}`)).version);

const write = (path: string, text: string) => writeFileSync(join(root, path), text);

it("makes the commit of a release, which has its number alone, and the one after it, which names it", () => {
  for (const path of FILES) cpSync(join(ROOT, path), join(root, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const manifest = JSON.parse(read("package.json"));
  const { version, postversion } = manifest.scripts;
  // Neither what the check says nor what is generated is of interest here.
  const scripts = { version, postversion, generate: "git status --porcelain" };
  write("package.json", JSON.stringify({ ...manifest, version: "0.1.0", scripts }, null, 2));
  write(".gitignore", "node_modules\n");
  write(
    "CHANGELOG.md",
    "# Changelog\n\n## [Unreleased]\n\n### Upgrade\n\n- Run npm run migrate.\n",
  );
  run("git", "init", "--quiet");
  run("git", "add", "--all");
  run("git", "commit", "--message", "A start");

  run("npm", "version", "minor");
  const first = run("git", "rev-parse", "v0.2.0^{commit}");
  expect(versionsAt(first)).toEqual(MANIFESTS.map(() => "0.2.0"));
  expect(run("git", "rev-parse", "HEAD^")).toBe(first);
  expect(versionsAt("HEAD")).toEqual(MANIFESTS.map(() => "0.2.1-dev.0"));
  expect(lastRelease(read("CHANGELOG.md"))).toMatchObject({ version: "0.2.0", commit: first });
  expect(run("git", "status", "--porcelain")).toBe("");
});
