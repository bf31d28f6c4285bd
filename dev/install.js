/**
 * Installs node_modules if it does not match package-lock.json. It runs before everything else,
 * so it is plain JavaScript for Node 18 and later, without packages. Prints nothing if
 * node_modules is up to date.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (findMismatch() !== undefined) install();

/** The first difference between node_modules and package-lock.json, or undefined. */
function findMismatch() {
  const expected = packagesOf("package-lock.json");
  const installed = packagesOf("node_modules/.package-lock.json");
  if (expected === undefined) return "there is no package-lock.json";
  if (installed === undefined) return "node_modules is missing";
  for (const [path, { version, integrity, optional }] of Object.entries(expected)) {
    if (path === "") continue;
    const actual = installed[path];
    // An optional package may be for another platform.
    if (actual === undefined && optional) continue;
    if (actual?.version !== version || actual?.integrity !== integrity) return `${path} differs`;
  }
  const extraneous = Object.keys(installed).find(
    (path) => !expected[path] && !installed[path].optional,
  );
  if (extraneous !== undefined) return `${extraneous} is extraneous`;

  // The package `node` downloads its binary in an install script, which npm may have skipped.
  const { version } = expected["node_modules/node"];
  const node = spawnSync(join(root, "node_modules/.bin/node"), ["--version"], { encoding: "utf8" });
  return node.stdout?.trim() === `v${version}` ? undefined : "node_modules/.bin/node does not run";
}

/** The `packages` of one of npm's lock files, or undefined if it cannot be read. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

function install() {
  console.error("installing dependencies (about 40 s) ...");
  const startedAt = Date.now();
  rmSync(join(root, "node_modules"), { recursive: true, force: true });
  // The Node that runs npm: the one that runs this file may have been in node_modules.
  const node = process.env.npm_node_execpath ?? process.execPath;
  const npm = process.env.npm_execpath;
  const options = { cwd: root, stdio: ["ignore", "inherit", "inherit"] };
  // Settings of the user's own npm that would leave something out; registries and proxies are theirs.
  const args = ["ci", "--include=dev", "--include=optional", "--loglevel=error"];
  args.push("--ignore-scripts=false", "--bin-links", "--dry-run=false", "--global=false");
  const run = npm ? spawnSync(node, [npm, ...args], options) : spawnSync("npm", args, options);
  if (run.status !== 0) {
    const exit =
      run.error?.message ?? (run.signal ? `by ${run.signal}` : `with code ${run.status}`);
    fail(`npm ci ended ${exit}; its output is above`);
  }
  const reason = findMismatch();
  if (reason !== undefined) fail(`npm ci succeeded, but ${reason}`);
  console.error(`installed dependencies in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

function fail(reason) {
  console.error(`The dependencies could not be installed: ${reason}.`);
  process.exit(1);
}
