/** CHANGELOG.md as the list of releases, which `npm version` extends and `npm run check` reads. */
import { expect, it } from "vitest";
import { lastRelease, mistakeInVersion, releaseChanges } from "../../../dev/changelog.ts";

const COMMIT = "52aeeaea4f2b6f7b8c9d0e1f2a3b4c5d6e7f8091";
const NEXT = COMMIT.replace("5", "6");
const EMPTY = "# Changelog\n\n## [Unreleased]\n";
const CHANGES = "\n### Upgrade\n\n- Nothing to do.\n\n### Added\n\n- A column.\n";
const BEFORE = `\n## [0.1.0] - 2026-10-01\n\nCommit \`${COMMIT}\`, tag \`v0.1.0\`.\n\n- The first.\n`;

const CHANGELOG = EMPTY + CHANGES + BEFORE;
const RELEASED = `${EMPTY}\n## [0.2.0] - 2026-11-22\n${CHANGES}${BEFORE}`;
const NAMED = `${EMPTY}\n## [0.2.0] - 2026-11-22\n\nCommit \`${NEXT}\`, tag \`v0.2.0\`.\n${CHANGES}${BEFORE}`;

it("nothing makes no release", () => {
  const release = () => releaseChanges(EMPTY + BEFORE, "0.2.0", "2026-11-22");
  expect(release).toThrow("no unreleased changes");
});

it.each([
  ["that of the changes above it", CHANGELOG, "0.1.0", COMMIT, CHANGES],
  ["in the commit of a release the one before", RELEASED, "0.1.0", COMMIT, CHANGES],
  ["after it, this one", NAMED, "0.2.0", NEXT, "## [Unreleased]\n\n"],
])("the last release is %s", (_, changelog, version, commit, end) => {
  expect(lastRelease(EMPTY)).toBeUndefined();
  const last = lastRelease(changelog);
  expect(last).toMatchObject({ version, commit });
  expect(last?.changesSince.trimEnd().endsWith(end.trim())).toBe(true);
});

it.each([
  ["before the first release", EMPTY, "0.1.0", undefined],
  ["after it", NAMED, "0.2.1-dev.0", undefined],
  ["that of a release in a later commit", NAMED, "0.2.0", "0.2.0 is the number of a release"],
  ["another one, and the commit is not named", RELEASED, "0.2.1-dev.0", "the commit of 0.2.0"],
])("the version in package.json: %s", (_, changelog, version, mistake) => {
  const found = mistakeInVersion(changelog, version);
  if (mistake === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(mistake);
});
