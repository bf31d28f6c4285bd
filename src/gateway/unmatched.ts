/** Requests that no route answers: another method, another path, what Fastify itself refuses. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../failure.ts";
import type { Answer } from "./answer.ts";
import { failureAnswer, httpError, methodNotAllowed, notFound } from "./errors.ts";
import { matches, pathOf } from "./path.ts";
import { type Port, refuse } from "./port.ts";
import { REST_METHODS } from "./rest.ts";
import type { Route } from "./routes.ts";

/** The answer where no route took the request: 405 with `Allow` on a route's path, 404 elsewhere. */
export function unmatched(routes: readonly Route[], target: string): Answer {
  const path = pathOf(target);
  const known = routes.some((route) => matches(route.segments, path));
  return known ? methodNotAllowed(REST_METHODS) : notFound();
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
    port.log?.error({ requestId: request.id, err: error }, "cannot answer");
    return refuse(port, reply, failureAnswer(Failure.from(error)));
  };
}
