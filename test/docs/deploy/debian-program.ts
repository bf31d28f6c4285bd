/**
 * A program of a Debian package that tests run, and nobody needs to have installed: taken from the PATH, or out
 * of the package. Installing it would also start a server.
 */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { canInstallPackages } from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { ROOT } from "../markdown.ts";

/** Kept between runs, as the packages of npm are. */
const CACHE = join(ROOT, "node_modules/.cache/debian");

/** A program, and the variables that it needs to find its libraries. */
export interface DebianProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Finds a program. It may have to be downloaded first.
 *
 * @param path where the package has it: `usr/sbin/nginx`
 * @throws Error with instructions if there is none and none can be had
 */
export function findDebianProgram(debianPackage: string, path: string): DebianProgram {
  const found = findProgram(basename(path));
  if (found !== undefined) return { path: found, env: {} };
  const folder = join(CACHE, debianPackage);
  const extracted = join(folder, path);
  if (!existsSync(extracted) && canInstallPackages()) extract(debianPackage, folder);
  if (!existsSync(extracted)) {
    const how = `Install it (Debian, Ubuntu: apt-get install ${debianPackage})`;
    throw new Error(`These tests need ${basename(path)}. ${how}`);
  }
  const libraries = globSync(`${folder}/{usr/,}lib/**/*.so{,.*}`).map(dirname);
  return { path: extracted, env: { LD_LIBRARY_PATH: [...new Set(libraries)].join(":") } };
}

/** Takes a package and all that it needs and is not installed into a folder; nothing if it cannot. */
function extract(debianPackage: string, folder: string): void {
  console.error(`downloading Debian's package ${debianPackage} for the tests ...`);
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, "download-"));
  mkdirSync(join(work, "partial"));
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: work, stdio: "ignore" });
  const options = ["-o", `Dir::Cache::archives=${work}`];
  options.push("-o", `DPkg::Lock::Timeout=${TIME_LIMIT / 1_000}`);
  const download = () =>
    run(
      "apt-get",
      ...[...options, "install", "-y", "--no-install-recommends", "--download-only"],
      debianPackage,
    );
  try {
    try {
      download();
    } catch {
      // A bare machine has no lists of packages.
      run("apt-get", "update");
      download();
    }
    for (const archive of globSync("*.deb", { cwd: work })) {
      run("dpkg-deb", "--extract", archive, "extracted");
    }
    renameSync(join(work, "extracted"), folder);
  } catch {
    // The caller reports that there is none.
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
