/** Imports between the parts of `src/` point down only, as in docs/architecture.md. */
import { expect, it } from "vitest";
import { sources } from "./source.ts";

/** Files that every part may import, and that import no part. */
const LEAVES = ["errors", "config", "handler", "quote", "timeout"];

/** The parts below `main.ts`, from the top down, and the parts that each may import besides itself. */
const BELOW_MAIN: Readonly<Record<string, readonly string[]>> = {
  services: [],
  ports: ["services", "gateway", "grpc", "rpc", "net", "tls", "telemetry"],
  stop: ["telemetry"],
  database: ["cli", "admin", "db"],
  cli: ["admin", "telemetry", "net", "revenue", "rollup", "auth", "db"],
  gateway: ["gateway/transcoding", "rpc", "auth", "net", "tls"],
  "gateway/transcoding": [],
  grpc: ["rpc", "auth", "net", "tls"],
  rpc: ["auth", "telemetry"],
  revenue: ["rollup", "db"],
  rollup: ["db", "telemetry"],
  auth: ["db"],
  admin: ["db"],
  db: [],
  tls: ["net"],
  net: [],
  telemetry: [],
};

/** All of `src/`. `main.ts` wires the parts, so it may import each, but not what is inside of one. */
const PARTS: typeof BELOW_MAIN = {
  main: Object.keys(BELOW_MAIN).filter((part) => !part.includes("/")),
  ...BELOW_MAIN,
  ...Object.fromEntries(LEAVES.map((leaf) => [leaf, []])),
};

/** The folders of `gen/` that a part may import. A part that is not listed imports none. */
const GENERATED: Readonly<Record<string, RegExp>> = {
  services: /^gen\/revenue\//,
  revenue: /^gen\/(revenue|google\/type)\//,
  "gateway/transcoding": /^gen\/google\//,
  grpc: /^gen\/(health|google\/rpc|grpc)\//,
  rpc: /^gen\/google\/rpc\//,
};

/** `src/rpc/call.ts` is in the part rpc; `src/errors.ts` is the leaf errors. */
function partOf(path: string): string {
  const inside = path.replace(/^src\//, "");
  const [library] = /^gateway\/transcoding(?=\/)/.exec(inside) ?? [];
  return library ?? inside.replace(/[/.].*$/, "");
}

const isLocal = (name: string) => /^[a-z]+\/.*\.ts$/.test(name) && !name.startsWith("@");

it("every file is in a part, and imports only what is below it, types of telemetry, and its own generated code", () => {
  const found = new Set(sources.map(({ path }) => partOf(path)));
  expect([...found].sort()).toEqual(Object.keys(PARTS).sort());
  const wrong = sources.flatMap(({ path, imports, typeImports }) => {
    const part = partOf(path);
    const allowed = [part, ...(PARTS[part] ?? []), ...LEAVES];
    const isAllowed = (target: string) => {
      if (partOf(target) === "telemetry" && typeImports.includes(target)) return true;
      if (target.startsWith("src/")) return allowed.includes(partOf(target));
      return GENERATED[part]?.test(target) ?? false;
    };
    return imports
      .filter((target) => isLocal(target) && !isAllowed(target))
      .map((target) => `${path} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

it("the protocols of the HTTP port and its pages import nothing of each other", () => {
  const roomOf = (path: string) => /^src\/gateway\/(?:rest|connect|web)\//.exec(path)?.[0];
  const across = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => {
      const room = roomOf(target);
      return room !== undefined && room !== (roomOf(path) ?? room);
    }),
  );
  expect(across).toEqual([]);
});

it("gateway/transcoding imports no package but protobuf", () => {
  const packages = sources
    .filter(({ path }) => partOf(path) === "gateway/transcoding")
    .flatMap(({ imports }) => imports.filter((name) => !isLocal(name)));
  expect(packages.filter((name) => !name.startsWith("@bufbuild/protobuf"))).toEqual([]);
});
