/**
 * Part of `npm version`: gives the changes under "Unreleased" in CHANGELOG.md the new version and
 * today's date (UTC).
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const UNRELEASED = "## [Unreleased]\n";

/**
 * The changelog with the unreleased changes as those of `version`.
 *
 * @param date YYYY-MM-DD
 * @throws Error if there are no unreleased changes, or the version is there already
 */
export function releaseChanges(changelog: string, version: string, date: string): string {
  const start = changelog.indexOf(UNRELEASED);
  if (start === -1) throw new Error('CHANGELOG.md has no heading "## [Unreleased]"');
  const changes = changelog.slice(start + UNRELEASED.length).split(/^## /m)[0] ?? "";
  if (changes.trim() === "") throw new Error("CHANGELOG.md has no unreleased changes");
  if (changelog.includes(`## [${version}]`)) {
    throw new Error(`CHANGELOG.md has a version ${version} already`);
  }
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const version = process.env.npm_package_version;
  if (!version) throw new Error("npm_package_version is not set: run `npm version`");
  const today = new Date().toISOString().slice(0, 10);
  const changelog = await readFile("CHANGELOG.md", "utf8");
  await writeFile("CHANGELOG.md", releaseChanges(changelog, version, today));
}
