/** CHANGELOG.md as the list of releases, which `npm version` extends and `npm run check` reads. */
import { describe, expect, it } from "vitest";
import {
  lastRelease,
  mistakeInVersion,
  nameCommit,
  releaseChanges,
} from "../../../dev/changelog.ts";

const COMMIT = "52aeeaea4f2b6f7b8c9d0e1f2a3b4c5d6e7f8091";

const CHANGELOG = `# Changelog

## [Unreleased]

### Upgrade

- Nothing to do.

### Added

- A column.

## [0.1.0] - 2026-10-01

Commit \`${COMMIT}\`, tag \`v0.1.0\`.

- The first.
`;

const RELEASED = CHANGELOG.replace(
  "## [Unreleased]\n",
  "## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n",
);

describe("a release", () => {
  it("gives the unreleased changes the version and the date", () => {
    expect(releaseChanges(CHANGELOG, "0.2.0", "2026-11-22")).toBe(RELEASED);
  });

  it.each([
    [
      "to release nothing",
      CHANGELOG.replace(/### Upgrade.*column\./s, ""),
      "0.2.0",
      "no unreleased changes",
    ],
    [
      "changes that do not say how to upgrade",
      CHANGELOG.replace("### Upgrade", "### Fixed"),
      "0.2.0",
      'no "### Upgrade"',
    ],
    ["a version that is there already", CHANGELOG, "0.1.0", "has a version 0.1.0 already"],
    ["a changelog without the heading", "# Changelog\n", "0.2.0", 'no heading "## [Unreleased]"'],
  ])("refuses %s", (_, changelog, version, message) => {
    expect(() => releaseChanges(changelog, version, "2026-11-22")).toThrow(message);
  });

  it("gets its commit, once", () => {
    const commit = COMMIT.replace("5", "6");
    const named = nameCommit(RELEASED, "0.2.0", commit);
    expect(named).toContain(
      `## [0.2.0] - 2026-11-22\n\nCommit \`${commit}\`, tag \`v0.2.0\`.\n\n### Upgrade\n`,
    );
    expect(named.replace(`\nCommit \`${commit}\`, tag \`v0.2.0\`.\n`, "")).toBe(RELEASED);
    expect(() => nameCommit(named, "0.2.0", commit)).toThrow("has the commit of 0.2.0");
    expect(() => nameCommit(named, "0.3.0", commit)).toThrow("has no version 0.3.0");
  });
});

describe("the last release", () => {
  it("is the newest one whose commit is named: in the commit of a release that is the one before", () => {
    const before = { version: "0.1.0", commit: COMMIT };
    expect(lastRelease(CHANGELOG)).toMatchObject(before);
    expect(lastRelease(RELEASED)).toMatchObject(before);
    const named = nameCommit(RELEASED, "0.2.0", COMMIT);
    expect(lastRelease(named)).toMatchObject({ version: "0.2.0", commit: COMMIT });
  });

  it("has all changes since it above it, also those of a release without a commit", () => {
    const changes = "- A column.";
    expect(lastRelease(CHANGELOG)?.changesSince).toContain(changes);
    expect(lastRelease(RELEASED)?.changesSince).toContain(changes);
    const named = nameCommit(RELEASED, "0.2.0", COMMIT);
    expect(lastRelease(named)?.changesSince).toBe("# Changelog\n\n## [Unreleased]\n\n");
  });

  it("does not exist before the first one", () => {
    expect(lastRelease("# Changelog\n\n## [Unreleased]\n\n- A column.\n")).toBeUndefined();
  });
});

describe("the version in package.json", () => {
  const named = nameCommit(RELEASED, "0.2.0", COMMIT);

  it.each([
    ["before the first release", "# Changelog\n\n## [Unreleased]\n", "0.1.0"],
    ["in the commit of a release", RELEASED, "0.2.0"],
    ["after it", named, "0.2.1-dev.0"],
  ])("is right %s", (_, changelog, version) => {
    expect(mistakeInVersion(changelog, version)).toBeUndefined();
  });

  it.each([
    ["that of a release in a later commit", named, "0.2.0", "0.2.0 is the number of a release"],
    ["that of an older release", named, "0.1.0", "0.1.0 is the number of a release"],
    ["another one, and the commit is not named", RELEASED, "0.2.1-dev.0", "the commit of 0.2.0"],
  ])("is wrong if it is %s", (_, changelog, version, mistake) => {
    expect(mistakeInVersion(changelog, version)).toContain(mistake);
  });
});
