/** A client as npm publishes it: packed, which builds it, and installed. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown.ts";

/**
 * Installs a client of this repository in a project, with what else it needs from here.
 *
 * @param client its folder in `clients/`
 * @param packages names, or scopes, of the others
 * @returns its folder
 */
export function installClient(
  project: string,
  client: string,
  packages: readonly string[],
): string {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: join(ROOT, "clients", client),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename, name }] = JSON.parse(packed.slice(packed.indexOf("[")));
  const modules = join(project, "node_modules");
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  const archive = join(project, filename);
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--strip-components", "1"]);
  for (const other of packages)
    symlinkSync(join(ROOT, "node_modules", other), join(modules, other));
  return folder;
}
