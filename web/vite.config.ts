/**
 * How `npm run generate` builds a page into `gen/web`, from which the service serves it: `--mode` is the name of the
 * page. Each build is one of its own, so that no page shares a file with another.
 */
import { join } from "node:path";
import { defineConfig } from "vite";
import { guide } from "./guide.ts";
import { inline } from "./inline.ts";

const ROOT = import.meta.dirname;

export default defineConfig(({ mode: page }) => ({
  root: ROOT,
  // A proxy may serve the pages below a path.
  base: "./",
  logLevel: "warn",
  publicDir: false,
  plugins: [guide(), inline()],
  build: {
    outDir: join(ROOT, "../gen/web"),
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2_000,
    // The licences of the packages ask that their texts go with the code.
    license: { fileName: page === "index" ? "licenses.txt" : `licenses-${page}.txt` },
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: join(ROOT, `${page}.html`),
    },
  },
}));
