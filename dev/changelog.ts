/**
 * CHANGELOG.md as the list of releases. Tags do not travel with every clone, so each heading of a version is
 * followed by the commit of the release: a line that the commit after it adds, as no commit can contain its own hash.
 */

const UNRELEASED = "## [Unreleased]\n";
/** What an operator does to come to a version from the one before it. */
const UPGRADE = "### Upgrade\n";
const HEADING = /^## \[(?<version>\d[^\]]*)\].*\n(?:\nCommit `(?<commit>[0-9a-f]+)`)?/gm;

/** A release that CHANGELOG.md names with its commit. */
export interface Release {
  readonly version: string;
  readonly commit: string;
  /** The part of CHANGELOG.md above it. */
  readonly changesSince: string;
}

/**
 * The changelog with the unreleased changes as those of `version`.
 *
 * @param date YYYY-MM-DD
 * @throws Error if there are no unreleased changes or no notes for the upgrade, or the version is there already
 */
export function releaseChanges(changelog: string, version: string, date: string): string {
  const start = changelog.indexOf(UNRELEASED);
  if (start === -1) throw new Error('CHANGELOG.md has no heading "## [Unreleased]"');
  const changes = changelog.slice(start + UNRELEASED.length).split(/^## /m)[0] ?? "";
  if (changes.trim() === "") throw new Error("CHANGELOG.md has no unreleased changes");
  if (!changes.includes(UPGRADE)) {
    throw new Error('the unreleased changes have no "### Upgrade": what operators have to do');
  }
  if (changelog.includes(`## [${version}]`)) {
    throw new Error(`CHANGELOG.md has a version ${version} already`);
  }
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

/**
 * The changelog with the commit of a release below its heading.
 *
 * @throws Error if it does not have the version, or has its commit already
 */
export function nameCommit(changelog: string, version: string, commit: string): string {
  const heading = headings(changelog).find((found) => found.version === version);
  if (heading === undefined) throw new Error(`CHANGELOG.md has no version ${version}`);
  if (heading.commit !== undefined) throw new Error(`CHANGELOG.md has the commit of ${version}`);
  const end = heading.index + heading.text.length;
  const line = `\nCommit \`${commit}\`, tag \`v${version}\`.\n`;
  return changelog.slice(0, end) + line + changelog.slice(end);
}

/** The newest release whose commit the changelog names, or undefined before the first one. */
export function lastRelease(changelog: string): Release | undefined {
  for (const { version, commit, index } of headings(changelog)) {
    if (commit !== undefined) return { version, commit, changesSince: changelog.slice(0, index) };
  }
  return undefined;
}

/**
 * Why `version` cannot be the number in package.json beside this changelog, or undefined if it can. The number of a
 * release is that of its own commit alone, in which the changelog does not name the commit yet.
 */
export function mistakeInVersion(changelog: string, version: string): string | undefined {
  const all = headings(changelog);
  const [newest] = all;
  if (newest && newest.commit === undefined) {
    if (newest.version === version) return undefined;
    return `CHANGELOG.md does not name the commit of ${newest.version}: run \`npm run postversion\``;
  }
  return all.some((release) => release.version === version)
    ? `${version} is the number of a release: this is another commit`
    : undefined;
}

/** The headings of versions, newest first. */
function headings(changelog: string) {
  return [...changelog.matchAll(HEADING)].map(({ 0: text, index, groups }) => ({
    text,
    index,
    version: groups?.version ?? "",
    commit: groups?.commit,
  }));
}
