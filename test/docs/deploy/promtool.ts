/**
 * promtool, Prometheus's own checker. Taken from the PATH, or out of Debian's package, which would
 * also start a server if it were installed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canInstallPackages } from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import { ROOT } from "../markdown.ts";

/** Kept between runs, as the packages of npm are. */
const CACHE = join(ROOT, "node_modules/.cache");
const EXTRACTED = join(CACHE, "promtool");

/**
 * The path of promtool.
 *
 * @throws Error with instructions if there is none and none can be had
 */
export function findPromtool(): string {
  const found = findProgram("promtool", [CACHE]);
  if (found !== undefined) return found;
  if (canInstallPackages()) extract();
  if (existsSync(EXTRACTED)) return EXTRACTED;
  throw new Error(
    "These tests need promtool. Install it (Debian, Ubuntu: apt-get install prometheus)",
  );
}

/** The result of promtool. */
export interface Checked {
  readonly passed: boolean;
  readonly output: string;
}

/** Runs promtool in `deploy/prometheus`. */
export function promtool(args: readonly string[], input = ""): Checked {
  const cwd = join(ROOT, "deploy/prometheus");
  const run = spawnSync(findPromtool(), args, { cwd, input, encoding: "utf8" });
  return { passed: run.status === 0, output: `${run.stdout}${run.stderr}` };
}

/** Takes promtool out of Debian's package. Leaves nothing behind if it cannot. */
function extract(): void {
  console.error("downloading Debian's prometheus package for promtool (19 MB) ...");
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "prometheus-"));
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: folder, stdio: "ignore" });
  const download = () => run("apt-get", "download", "prometheus");
  try {
    try {
      download();
    } catch {
      // A bare machine has no lists of packages.
      run("apt-get", "update");
      download();
    }
    const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".deb"));
    run("dpkg-deb", "--extract", archive, "extracted");
    renameSync(join(folder, "extracted/usr/bin/promtool"), EXTRACTED);
  } catch {
    // The caller reports that there is none.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
