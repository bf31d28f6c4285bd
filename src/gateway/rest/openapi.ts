/** `GET /openapi.json`: the OpenAPI document, without an API key. It is the same for everybody. */
import type { FastifyInstance } from "fastify";
import { BEST } from "../compression.ts";
import type { GatewayContext } from "../context.ts";
import { READ_METHODS, routerPath, type ServedPath } from "../path.ts";
import { createRepresentation, representationResponse } from "../representation.ts";
import { JSON_TYPE, sendResponse } from "../response.ts";

/** The path of the document. */
export const OPENAPI_PATH: ServedPath = {
  segments: [{ literal: "openapi.json" }],
  methods: READ_METHODS,
};

/** A new version of the service may change the document: caches ask again after 5 minutes. */
const HEADERS = { "cache-control": "public, max-age=300" };

/** Serves the document, a JSON text. */
export function serveOpenApi(
  app: FastifyInstance,
  document: string,
  gateway: GatewayContext,
): void {
  const representation = createRepresentation(document, JSON_TYPE, BEST);
  app.route({
    method: [...READ_METHODS],
    url: routerPath(OPENAPI_PATH.segments),
    handler: async (request, reply) =>
      sendResponse(
        reply,
        await representationResponse(representation, request, HEADERS, gateway.log),
      ),
  });
}
