/** The files of the pages, as `npm run generate` builds them. They are read once, at start. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** A file that is served. */
export interface WebFile {
  /** The path of its URL: `/` for `index.html`, `/docs` for `docs.html`. */
  readonly path: string;
  /** Its media type. */
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Reads the files below a folder.
 *
 * @throws Error if the folder is missing, or has a file of an unknown type
 */
export function readWebFiles(folder: string): readonly WebFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const type = TYPES[extname(file)];
      if (type === undefined) throw new Error(`cannot serve ${file}: unknown type`);
      return { path: urlPath(file.slice(folder.length)), type, body: readFileSync(file) };
    });
}

function urlPath(name: string): string {
  return name
    .replace(/\\/g, "/")
    .replace(/^\/?/, "/")
    .replace(/\/index\.html$/, "/")
    .replace(/\.html$/, "");
}
