/** Requests that no route answers: another method, another path, what Fastify itself refuses. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { type Port, refuse } from "../context.ts";
import { errorResponse, httpError, methodNotAllowed, notFound } from "../errors.ts";
import { matches, pathOf } from "../path.ts";
import type { HttpResponse } from "../response.ts";
import type { Segment } from "../transcoding/path-template.ts";

/** A path of the port, and the methods that it answers. */
export interface Served {
  readonly segments: readonly Segment[];
  readonly methods: readonly string[];
}

/** The answer where nothing took the request: 405 with `Allow` on a served path, 404 elsewhere. */
export function unmatched(served: readonly Served[], target: string): HttpResponse {
  const path = pathOf(target);
  const known = served.find(({ segments }) => matches(segments, path));
  return known ? methodNotAllowed(known.methods) : notFound();
}

/** Answers what Fastify refuses by itself: a path that cannot be decoded is the caller's mistake. */
export function refused(port: Port) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error.code === "FST_ERR_BAD_URL") {
      const message = "the path is not percent-encoded UTF-8 (RFC 3986)";
      return refuse(port, reply, httpError(400, message));
    }
    // What a POST to Connect calls its content type may be none.
    if (error.statusCode === 415) return refuse(port, reply, httpError(415));
    if (error.code === "FST_ERR_NOT_FOUND") return refuse(port, reply, notFound());
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return refuse(port, reply, httpError(400));
    }
    port.log?.error({ requestId: request.id, err: error }, "cannot answer");
    return refuse(port, reply, errorResponse(ServiceError.from(error)));
  };
}
