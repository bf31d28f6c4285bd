/** Dependencies run one way, down the list of `design.md` (Architecture). */
import { describe, expect, it } from "vitest";
import { sources } from "./source.ts";

/** Files that know no room, and that every room may know. */
const LEAVES = ["errors", "config"];

/** Each room of `src/`, from the top down, and the rooms that it may import besides itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  main: ["cli", "gateway", "grpc", "rpc", "revenue", "rollup", "auth", "db", "telemetry"],
  cli: ["rollup", "auth", "db"],
  gateway: ["gateway/transcoding", "rpc", "auth"],
  "gateway/transcoding": [],
  grpc: ["rpc", "auth"],
  rpc: ["revenue", "auth", "telemetry"],
  revenue: ["rollup", "auth", "db"],
  rollup: ["db"],
  auth: ["db"],
  db: [],
  telemetry: [],
};

/** The parts of `gen/` that a room may import. A room that is not listed imports none. */
const GENERATED: Readonly<Record<string, RegExp>> = {
  main: /^gen\/revenue\//,
  revenue: /^gen\/(revenue|google\/type)\//,
  "gateway/transcoding": /^gen\/google\//,
  grpc: /^gen\/health\//,
};

/** `src/rpc/call.ts` is in the room rpc, `src/errors.ts` is the leaf errors. */
function roomOf(path: string): string {
  const inside = path.replace(/^src\//, "");
  return inside.startsWith("gateway/transcoding/")
    ? "gateway/transcoding"
    : inside.replace(/[/.].*$/, "");
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

it("the transcoder is a package of its own: it imports protobuf and nothing else", () => {
  const packages = sources
    .filter(({ path }) => roomOf(path) === "gateway/transcoding")
    .flatMap(({ imports }) => imports.filter((name) => !isLocal(name)));
  expect(packages.filter((name) => !name.startsWith("@bufbuild/protobuf"))).toEqual([]);
});
