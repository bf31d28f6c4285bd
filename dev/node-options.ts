/** How `npm start` runs Node, for those who start the service without npm. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const manifest: { readonly scripts: { readonly start: string } } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../package.json"), "utf8"),
);
const words = manifest.scripts.start.split(" ");

/** The options of Node: `--max-semi-space-size=16`. */
export const NODE_OPTIONS = words.filter((word) => word.startsWith("--"));

/** The variables that it sets: `MALLOC_ARENA_MAX`. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split("=", 2)),
);
