/** Builds the pages into `gen/web`, or into the folder that is named. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";

const ROOT = join(import.meta.dirname, "..");

/** The pages, by the names of their files in `web/`. */
const PAGES = ["index", "docs"];

const outDir = process.argv[2] ?? join(ROOT, "gen/web");
await rm(outDir, { recursive: true, force: true });
for (const mode of PAGES) {
  await build({ configFile: join(ROOT, "web/vite.config.ts"), mode, build: { outDir } });
}
