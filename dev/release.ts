/**
 * The parts of `npm version` in which it changes files, by the name of the script in package.json:
 *
 *   version       before the commit of the release: the changes get its number and today's date (UTC)
 *   postversion   after it: its hash goes into CHANGELOG.md, and the version becomes the next pre-release
 *
 * The clients have the version of the service.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { nameCommit, releaseChanges } from "./changelog.ts";

const CHANGELOG = "CHANGELOG.md";
const CLIENTS = ["clients/mcp/package.json", "clients/typescript/package.json"];

const steps: Readonly<Record<string, () => void>> = {
  version() {
    const today = new Date().toISOString().slice(0, 10);
    edit(CHANGELOG, (changelog) => releaseChanges(changelog, currentVersion(), today));
    setVersionOfClients();
  },
  postversion() {
    const version = currentVersion();
    // npm has just made the tag.
    const commit = run("git", "rev-parse", "--verify", `v${version}^{commit}`);
    edit(CHANGELOG, (changelog) => nameCommit(changelog, version, commit));
    // From 0.2.1-dev.0 `npm version` makes 0.2.1, 0.3.0 or 1.0.0.
    run("npm", "version", "prepatch", "--preid=dev", "--no-git-tag-version", "--ignore-scripts");
    setVersionOfClients();
  },
};

const step = steps[process.argv[2] ?? ""];
if (step === undefined) throw new Error(`expected one of: ${Object.keys(steps).join(", ")}`);
step();

function currentVersion(): string {
  return JSON.parse(readFileSync("package.json", "utf8")).version;
}

function setVersionOfClients(): void {
  for (const path of CLIENTS) {
    edit(path, (manifest) => manifest.replace(/(?<="version": ")[^"]*/, () => currentVersion()));
  }
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8" }).trim();
}
