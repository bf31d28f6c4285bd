/**
 * Makes node_modules what package-lock.json says, where it is not that yet. It
 * runs before everything else, so it is plain JavaScript for any Node since 18
 * and uses no package. Silent where there is nothing to do.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (missing() !== undefined) install();

/** Why node_modules cannot be used as it is; undefined where it can. */
function missing() {
  const wanted = packagesOf("package-lock.json");
  const present = packagesOf("node_modules/.package-lock.json");
  if (wanted === undefined) return "there is no package-lock.json";
  if (present === undefined) return "node_modules is missing";
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = present[path];
    // What is optional may be for another platform.
    if (found === undefined && optional) continue;
    if (found?.version !== version || found?.integrity !== integrity) return `${path} differs`;
  }
  const surplus = Object.keys(present).find((path) => !wanted[path] && !present[path].optional);
  if (surplus !== undefined) return `${surplus} is not wanted`;

  // The package `node` fetches its program in its install script, which npm may have skipped.
  const { version } = wanted["node_modules/node"];
  const node = spawnSync(join(root, "node_modules/.bin/node"), ["--version"], { encoding: "utf8" });
  return node.stdout?.trim() === `v${version}` ? undefined : "node_modules/.bin/node is not usable";
}

/** The `packages` of one of npm's lock files, or undefined where it cannot be read. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

function install() {
  console.error("installing dependencies (about 40 s) ...");
  const begun = Date.now();
  rmSync(join(root, "node_modules"), { recursive: true, force: true });
  // npm's own Node: the one that runs this file may have lain in what was just removed.
  const node = process.env.npm_node_execpath ?? process.execPath;
  const npm = process.env.npm_execpath;
  const options = { cwd: root, stdio: ["ignore", "inherit", "inherit"] };
  const args = ["ci", "--include=dev", "--include=optional", "--loglevel=error"];
  const run = npm ? spawnSync(node, [npm, ...args], options) : spawnSync("npm", args, options);
  if (run.status !== 0) {
    const how = run.error?.message ?? (run.signal ? `by ${run.signal}` : `with code ${run.status}`);
    fail(`npm ci ended ${how}; its words are above`);
  }
  const reason = missing();
  if (reason !== undefined) fail(`npm ci succeeded, but ${reason}`);
  console.error(`installed dependencies in ${Math.round((Date.now() - begun) / 1000)} s`);
}

function fail(reason) {
  console.error(`The dependencies could not be installed: ${reason}.`);
  process.exit(1);
}
