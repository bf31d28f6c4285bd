/** Checks what the project is made of: every package of the lock file has an integrity hash and an accepted licence. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CheckResult, ROOT, runTool } from "./tool.ts";

/** SPDX identifiers. All of them allow use in a service without publishing its source. */
const ACCEPTED_LICENSES = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "CC-BY-4.0",
  "ISC",
  "MIT",
  "MPL-2.0",
  "OFL-1.1",
  "PSF-2.0",
  "Python-2.0",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

/**
 * Checks that no package can be replaced by other bytes of the same version. A registry that lacks
 * the optional packages of other platforms gives no hash for them either; they are counted.
 */
export async function checkIntegrity(): Promise<CheckResult> {
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const without = Object.entries<LockedPackage>(lock.packages).filter(
    ([path, { integrity, link }]) => path.startsWith("node_modules/") && !link && !integrity,
  );
  const missing = without.filter(([path, { optional }]) => !optional || isInstalled(path));
  if (missing.length > 0) {
    const output = missing.map(([path]) => `no integrity hash: ${path}`).join("\n");
    return { outcome: "failed", output };
  }
  if (without.length === 0) return { outcome: "passed", output: "" };
  const output = without.map(([path]) => path).join("\n");
  return { outcome: "NOT DONE", note: "without a hash, for other platforms only:", output };
}

/** Checks the licences that `npm sbom` lists, and counts them. */
export async function checkLicenses(): Promise<CheckResult> {
  const sbom = await runTool("npm", ["sbom", "--sbom-format=cyclonedx", "--loglevel=error"]);
  if (sbom.outcome !== "passed") return sbom;
  const components: Component[] = JSON.parse(sbom.output).components;
  const refused = components.flatMap((component) => {
    const license = licenseOf(component);
    return isAccepted(license) ? [] : `${component.name}: ${license || "no licence"}`;
  });
  if (refused.length > 0) return { outcome: "failed", output: refused.join("\n") };
  return { outcome: "passed", note: `${components.length} packages`, output: "" };
}

/** A package in package-lock.json. */
interface LockedPackage {
  readonly integrity?: string;
  /** It is a folder of this repository. */
  readonly link?: boolean;
  readonly optional?: boolean;
}

function isInstalled(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** A package in a CycloneDX document. */
interface Component {
  readonly name: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

function licenseOf({ licenses = [] }: Component): string {
  return licenses
    .map(({ license, expression }) => license?.id ?? license?.name ?? expression)
    .join(" AND ");
}

/** Whether all licences of an SPDX expression are accepted, also those it lets one choose from. */
function isAccepted(expression: string): boolean {
  const ids = expression.split(/[\s()]+|\bAND\b|\bOR\b/).filter((part) => part !== "");
  return ids.length > 0 && ids.every((id) => ACCEPTED_LICENSES.has(id));
}
