/**
 * The pages on the HTTP port, without an API key: they hold no figures. Their scripts call the
 * service with the key that a person enters.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { sendResponse } from "../response.ts";
import { type Coding, chooseCoding } from "../rest/negotiation.ts";
import { matchesTag } from "../rest/representation.ts";
import { REST_METHODS } from "../rest/route.ts";
import type { ServedPath } from "../rest/unmatched.ts";
import { securityHeaders } from "./security-headers.ts";
import type { WebFile } from "./web-files.ts";

/** Names of files in `/assets/` contain a hash of their content. */
const ASSET_CACHING = "public, max-age=31536000, immutable";
/** Any other file is asked for again each time, and answered with 304 while it is the same. */
const PAGE_CACHING = "no-cache";

/** A file is compressed once, so the level is one that takes its time. */
const COMPRESS: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  zstd: (body) =>
    promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 12 } }),
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
};

/** The paths of the files, for 405. */
export function webPaths(files: readonly WebFile[]): ServedPath[] {
  return [...files.map(({ path }) => path), ...redirected(files)].map((path) => ({
    segments: path
      .split("/")
      .slice(1)
      .map((literal) => ({ literal })),
    methods: REST_METHODS,
  }));
}

/** Serves the files, and redirects from `/docs/` to `/docs`. */
export function serveWeb(app: FastifyInstance, files: readonly WebFile[]): void {
  for (const file of files) serveFile(app, file);
  for (const url of redirected(files)) {
    const headers = { location: url.slice(0, -1) };
    app.route({
      method: [...REST_METHODS],
      url,
      handler: (_request, reply) => sendResponse(reply, { status: 308, headers, body: undefined }),
    });
  }
}

/** The paths of the pages with a slash too many: `/docs/`. */
function redirected(files: readonly WebFile[]): string[] {
  return files
    .filter(({ path, type }) => type.startsWith("text/html") && path !== "/")
    .map(({ path }) => `${path}/`);
}

function serveFile(app: FastifyInstance, { path, type, body, etag }: WebFile): void {
  const compressed = new Map<Coding, Promise<Buffer>>();
  const isAsset = path.startsWith("/assets/");
  const shared = {
    "cache-control": isAsset ? ASSET_CACHING : PAGE_CACHING,
    etag,
    vary: "accept-encoding",
    ...securityHeaders(path),
  };
  app.route({
    method: [...REST_METHODS],
    url: path,
    handler: async ({ headers }, reply) => {
      const known = headers["if-none-match"];
      if (known !== undefined && matchesTag(known, etag)) {
        return sendResponse(reply, { status: 304, headers: shared, body: undefined });
      }
      const coding = chooseCoding(headers["accept-encoding"]?.toString());
      const typed = { ...shared, "content-type": type };
      if (coding === undefined) return sendResponse(reply, { status: 200, headers: typed, body });
      return sendResponse(reply, {
        status: 200,
        headers: { ...typed, "content-encoding": coding },
        body: await compressed.getOrInsertComputed(coding, () => COMPRESS[coding](body)),
      });
    },
  });
}
