/** `GET /openapi.json`: the OpenAPI document, without an API key. It is the same for everybody. */
import type { FastifyInstance } from "fastify";
import { sendResponse } from "../response.ts";
import { chooseCoding } from "./negotiation.ts";
import { routerPath } from "./path.ts";
import { createRepresentation, matchesTag } from "./representation.ts";
import { REST_METHODS } from "./route.ts";
import type { ServedPath } from "./unmatched.ts";

/** The path of the document. */
export const OPENAPI_PATH: ServedPath = {
  segments: [{ literal: "openapi.json" }],
  methods: REST_METHODS,
};

/** A new version of the service may change the document: caches ask again after 5 minutes. */
const CACHE_CONTROL = "public, max-age=300";

/** Serves the document, a JSON text. */
export function serveOpenApi(app: FastifyInstance, document: string): void {
  const { etag, body, compressed } = createRepresentation(document);
  const shared = { "cache-control": CACHE_CONTROL, etag, vary: "accept-encoding" };
  app.route({
    method: [...REST_METHODS],
    url: routerPath(OPENAPI_PATH.segments),
    handler: async ({ headers }, reply) => {
      const known = headers["if-none-match"];
      if (known !== undefined && matchesTag(known, etag)) {
        return sendResponse(reply, { status: 304, headers: shared, body: undefined });
      }
      const coding = chooseCoding(headers["accept-encoding"]?.toString());
      return coding === undefined
        ? sendResponse(reply, { status: 200, headers: shared, body })
        : sendResponse(reply, {
            status: 200,
            headers: { ...shared, "content-encoding": coding },
            body: await compressed(coding),
          });
    },
  });
}
