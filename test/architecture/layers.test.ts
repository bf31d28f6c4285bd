/** Dependencies run one way, down the list of `design.md` (Architecture). */
import { describe, expect, it } from "vitest";
import { sources } from "./source.ts";

/** What knows nothing of the rooms, and what every room may know. */
const LEAVES = ["failure", "limits", "settings", "log"];

/** Each room of `src/`, from the top down, and the rooms that it may know besides itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  main: ["gateway", "grpc", "rpc", "revenue", "access", "database", "commands"],
  commands: ["access", "database"],
  gateway: ["grpc", "rpc", "revenue", "access", "database"],
  grpc: ["rpc", "revenue", "access", "database"],
  rpc: ["revenue", "access", "database"],
  revenue: ["access", "database"],
  access: ["database"],
  database: [],
};

/** The parts of `gen/` that a room may know. What is not here knows none. */
const GENERATED: Readonly<Record<string, RegExp>> = {
  main: /^gen\/revenue\//,
  revenue: /^gen\/(revenue|google\/type)\//,
  // The transcoder is generic: nothing about revenue in it.
  gateway: /^gen\/google\//,
  grpc: /^gen\/health\//,
};

/** `src/rpc/call.ts` is in the room rpc, `src/log.ts` is the leaf log. */
function roomOf(path: string): string {
  return path.replace(/^src\//, "").replace(/[/.].*$/, "");
}

const isLocal = (name: string) => /^[a-z]+\/.*\.ts$/.test(name) && !name.startsWith("@");

it("every file is in a room or a leaf", () => {
  const known = [...Object.keys(ROOMS), ...LEAVES];
  expect([...new Set(sources.map(({ path }) => roomOf(path)))].sort()).toEqual(known.sort());
});

it("there is no import that is not understood", () => {
  const statements = sources.flatMap(
    ({ code }) => code.match(/^import\b|^export .* from "/gm) ?? [],
  );
  expect(sources.flatMap(({ imports }) => imports)).toHaveLength(statements.length);
});

describe.each(Object.entries(ROOMS))("%s", (room, below) => {
  const files = sources.filter(({ path }) => roomOf(path) === room);
  const local = files.flatMap(({ path, imports }) =>
    imports.filter(isLocal).map((target) => ({ path, target })),
  );

  it(`knows ${[room, ...below].join(", ")} and the leaves alone`, () => {
    const known = [room, ...below, ...LEAVES];
    const up = local.filter(
      ({ target }) => target.startsWith("src/") && !known.includes(roomOf(target)),
    );
    expect(up).toEqual([]);
  });

  it(`knows of gen/ ${GENERATED[room]?.source ?? "nothing"}`, () => {
    const generated = local.filter(({ target }) => target.startsWith("gen/"));
    expect(generated.filter(({ target }) => !GENERATED[room]?.test(target))).toEqual([]);
  });

  it("knows nothing of dev/, test/ and bench/", () => {
    expect(local.filter(({ target }) => !/^(src|gen)\//.test(target))).toEqual([]);
  });
});

it.each(LEAVES)("%s knows no room", (leaf) => {
  const imports = sources
    .filter(({ path }) => roomOf(path) === leaf)
    .flatMap((source) => source.imports.filter(isLocal));
  expect(imports.filter((target) => !LEAVES.includes(roomOf(target)))).toEqual([]);
});
