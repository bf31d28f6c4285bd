/** Checks that no two versions of the service have one number. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mistakeInVersion } from "../changelog.ts";
import { type CheckResult, ROOT } from "./tool.ts";

/** The files that have the version. */
const MANIFESTS = [
  "package.json",
  "package-lock.json",
  "clients/mcp/package.json",
  "clients/typescript/package.json",
];

/** Compares the version in the manifests with each other, and with the releases in CHANGELOG.md. */
export async function checkVersion(): Promise<CheckResult> {
  const versions = await Promise.all(
    MANIFESTS.map(async (path): Promise<string> => JSON.parse(await read(path)).version),
  );
  const [version = ""] = versions;
  const differ = versions.some((other) => other !== version);
  const mistake = differ
    ? `${MANIFESTS.join(", ")} have ${versions.join(", ")}`
    : mistakeInVersion(await read("CHANGELOG.md"), version);
  if (mistake === undefined) return { outcome: "passed", note: version, output: "" };
  return { outcome: "failed", output: mistake };
}

function read(path: string): Promise<string> {
  return readFile(join(ROOT, path), "utf8");
}
