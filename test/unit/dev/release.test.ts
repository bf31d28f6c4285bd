/** What `npm version` does with CHANGELOG.md. */
import { expect, it } from "vitest";
import { releaseChanges } from "../../../dev/release.ts";

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- A column.

## [0.1.0] - 2026-10-01

- The first.
`;

it("gives the unreleased changes the version and the date", () => {
  expect(releaseChanges(CHANGELOG, "0.2.0", "2026-11-22")).toBe(`# Changelog

## [Unreleased]

## [0.2.0] - 2026-11-22

### Added

- A column.

## [0.1.0] - 2026-10-01

- The first.
`);
});

it.each([
  ["to release nothing", CHANGELOG.replace(/### Added[^#]*/, ""), "0.2.0", "no unreleased changes"],
  ["a version that is there already", CHANGELOG, "0.1.0", "has a version 0.1.0 already"],
  ["a changelog without the heading", "# Changelog\n", "0.2.0", 'no heading "## [Unreleased]"'],
])("refuses %s", (_, changelog, version, message) => {
  expect(() => releaseChanges(changelog, version, "2026-11-22")).toThrow(message);
});
