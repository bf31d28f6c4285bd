/** Responses to requests that no route handles, and to those that Fastify itself rejects. */
import type { DescService } from "@bufbuild/protobuf";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { type GatewayContext, rejectRequest } from "../context.ts";
import { errorResponse, httpError, methodNotAllowed, notFound } from "../errors.ts";
import { pathOf, type ServedPath } from "../path.ts";
import type { HttpResponse } from "../response.ts";
import type { Route } from "../transcoding/routes.ts";

/** The paths that a 404 names: those of REST, and where Connect and gRPC-Web are. */
export function pathsToName(services: readonly DescService[], routes: readonly Route[]): string[] {
  const ofConnect = services.map(({ typeName }) => `/${typeName}/{method}`);
  return [...routes.map(({ path }) => path), ...ofConnect];
}

/**
 * The response to a request without a route: 405 with `Allow` on a served path, otherwise 404.
 *
 * @param named those of `pathsToName`
 */
export function unmatched(
  served: readonly ServedPath[],
  named: readonly string[],
  target: string,
): HttpResponse {
  const asked = pathOf(target);
  const known = served.find(({ path }) => path === asked);
  return known ? methodNotAllowed(known.methods) : notFound(named);
}

/** Fastify's error handler: what the client got wrong is a 4xx, anything else a 500. */
export function handleFastifyError(gateway: GatewayContext) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const reject = (response: HttpResponse) => rejectRequest(gateway, reply, response);
    if (error.code === "FST_ERR_BAD_URL") {
      return reject(httpError(400, "the path is not percent-encoded UTF-8 (RFC 3986)"));
    }
    if (error.statusCode !== undefined && error.statusCode < 500) return reject(httpError(400));
    gateway.log.error({ requestId: request.id, err: error }, "cannot handle the request");
    return reject(errorResponse(ServiceError.from(error)));
  };
}
