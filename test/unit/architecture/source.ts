/** The files of `src/`, what each imports, and its code without its comments. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

export const ROOT = join(import.meta.dirname, "../../..");

/** Any form of import or re-export. */
const IMPORT =
  /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;

export interface SourceFile {
  /** From the root of the repository: `src/rpc/call.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text without its comments. */
  readonly code: string;
  /** What it imports or re-exports, including types: paths like its own, or names of packages. */
  readonly imports: readonly string[];
  /** Those of which it imports types only: they are gone when it runs. */
  readonly typeImports: readonly string[];
}

/** Every TypeScript file below a folder of the repository. */
export function filesBelow(folder: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((name) => readSource(posix.join(folder, name)));
}

/** The files of `src/`. */
export const sources = filesBelow("src");

/** The file at a path of `src/`. Throws if there is none. */
export function sourceAt(path: string): SourceFile {
  const file = sources.find((source) => source.path === path);
  if (file === undefined) throw new Error(`there is no ${path}`);
  return file;
}

/** The given paths, and those of all files of `src/` that they import, directly or indirectly. */
export function reachableFrom(paths: readonly string[]): ReadonlySet<string> {
  const reached = new Set(paths);
  for (const path of reached) {
    for (const next of sourceAt(path).imports) {
      if (next.startsWith("src/")) reached.add(next);
    }
  }
  return reached;
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), "utf8");
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  const found = [...code.matchAll(IMPORT)].map(([statement, from, bare, dynamic]) => {
    const name = from ?? bare ?? dynamic ?? "";
    const target = name.startsWith(".") ? posix.join(dirname(path), name) : name;
    return { target, isType: /^(?:import|export) type\b/.test(statement) };
  });
  return {
    path,
    text,
    code,
    imports: found.map(({ target }) => target),
    typeImports: found.filter(({ isType }) => isType).map(({ target }) => target),
  };
}
