/** The production dependencies are exactly the packages that `src/` needs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, sources } from "./source.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
}

const dependencies = Object.keys(manifestIn(".").dependencies ?? {});
const generated = ["@bufbuild/protobuf"];
const imported = new Set(
  sources
    .flatMap(({ imports }) => imports)
    .filter((name) => !/^(src|gen)\/|^node:/.test(name))
    .map((name) => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name),
);

it("every package that src/ imports is a production dependency", () => {
  expect([...imported].filter((name) => !dependencies.includes(name))).toEqual([]);
});

it("every production dependency is imported, or is a peer dependency of an imported one", () => {
  const needed = new Set([
    ...imported,
    ...generated,
    ...[...imported].flatMap((name) =>
      Object.keys(manifestIn(`node_modules/${name}`).peerDependencies ?? {}),
    ),
  ]);
  expect(dependencies.filter((name) => !needed.has(name))).toEqual([]);
});
