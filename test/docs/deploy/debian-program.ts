/**
 * A program of a Debian package that tests run, and nobody needs to have installed: taken from the PATH, or out
 * of the package. Installing it would also start a server.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canInstallPackages } from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
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
  const name = path.split("/").at(-1) ?? path;
  const found = findProgram(name);
  if (found !== undefined) return { path: found, env: {} };
  const folder = join(CACHE, debianPackage);
  const extracted = join(folder, path);
  if (!existsSync(extracted) && canInstallPackages()) extract(debianPackage, folder);
  if (existsSync(extracted))
    return { path: extracted, env: { LD_LIBRARY_PATH: libraries(folder) } };
  throw new Error(
    `These tests need ${name}. Install it (Debian, Ubuntu: apt-get install ${debianPackage})`,
  );
}

/** The folders of a package's libraries, and of those that it needs and that were not installed. */
function libraries(folder: string): string {
  const roots = ["usr/lib", "lib"].map((name) => join(folder, name)).filter(existsSync);
  const below = roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.so(\.\d+)*$/.test(name))
      .map((name) => join(root, name, "..")),
  );
  return [...new Set(below)].join(":");
}

/** Takes a package and all that it needs and is not installed into a folder; nothing if it cannot. */
function extract(debianPackage: string, folder: string): void {
  console.error(`downloading Debian's package ${debianPackage} for the tests ...`);
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, "download-"));
  const archives = join(work, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: work, stdio: "ignore" });
  const option = (text: string) => ["-o", text];
  const download = () =>
    run(
      "apt-get",
      ...option(`Dir::Cache::archives=${archives}`),
      ...option("DPkg::Lock::Timeout=180"),
      ...["install", "-y", "--no-install-recommends", "--download-only", debianPackage],
    );
  try {
    try {
      download();
    } catch {
      // A bare machine has no lists of packages.
      run("apt-get", "update");
      download();
    }
    for (const archive of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
      run("dpkg-deb", "--extract", join(archives, archive), "extracted");
    }
    renameSync(join(work, "extracted"), folder);
  } catch {
    // The caller reports that there is none.
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
