/**
 * The pages and the OpenAPI document on the HTTP port, without an API key: they hold no figures. The
 * scripts of the pages call the service with the key that a person enters.
 */
import type { FastifyInstance } from "fastify";
import { BEST } from "../compression.ts";
import type { GatewayContext } from "../context.ts";
import { READ_METHODS, type ServedPath } from "../path.ts";
import { createRepresentation, representationResponse } from "../representation.ts";
import { sendResponse } from "../response.ts";
import { securityHeaders } from "./security-headers.ts";
import type { WebFile } from "./web-files.ts";

/** The paths of the files, for 405. */
export function webPaths(files: readonly WebFile[]): ServedPath[] {
  return [...files.map(({ path }) => path), ...redirected(files)].map((path) => ({
    path,
    methods: READ_METHODS,
  }));
}

/** Serves the files, and redirects from `/docs/` to `/docs`. */
export function serveWeb(
  app: FastifyInstance,
  files: readonly WebFile[],
  gateway: GatewayContext,
): void {
  for (const file of files) serveFile(app, file, gateway);
  for (const url of redirected(files)) {
    // Relative: a proxy may serve the pages below a path.
    const headers = { location: `..${url.slice(0, -1)}` };
    app.route({
      method: [...READ_METHODS],
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

function serveFile(
  app: FastifyInstance,
  { path, type, body }: WebFile,
  { log, connections }: GatewayContext,
): void {
  const representation = createRepresentation(body, type, BEST);
  // A file is asked for again each time, and answered with 304 while it is the same.
  const headers = { "cache-control": "no-cache", ...securityHeaders(body) };
  app.route({
    method: [...READ_METHODS],
    url: path,
    handler: async (request, reply) => {
      const exchange = connections.get(request.raw.socket);
      if (exchange) exchange.isPublic = true;
      return sendResponse(
        reply,
        await representationResponse(representation, request, headers, log),
      );
    },
  });
}
