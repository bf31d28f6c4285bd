/** How `npm run generate` builds the pages into `gen/web`, from which the service serves them. */
import { join } from "node:path";
import { defineConfig } from "vite";
import { guide } from "./guide.ts";

const ROOT = import.meta.dirname;

export default defineConfig({
  root: ROOT,
  // A proxy may serve the pages below a path.
  base: "./",
  logLevel: "warn",
  publicDir: false,
  plugins: [guide()],
  build: {
    outDir: join(ROOT, "../gen/web"),
    emptyOutDir: true,
    target: "es2022",
    // The Content-Security-Policy allows neither inline scripts nor data: URLs of code.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2_000,
    // The licences of the packages ask that their texts go with the code.
    license: { fileName: "licenses.txt" },
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: { index: join(ROOT, "index.html"), docs: join(ROOT, "docs.html") },
    },
  },
});
