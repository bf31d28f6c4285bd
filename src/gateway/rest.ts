/** REST: a route's request to a call, its response or failure to an answer. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../failure.ts";
import { type Answer, sendAnswer } from "./answer.ts";
import { credentialsOf } from "./credentials.ts";
import { departureOf } from "./departure.ts";
import { failureAnswer, notFound } from "./errors.ts";
import { routerPath } from "./path.ts";
import { type Port, refuse } from "./port.ts";
import type { Route } from "./routes.ts";

/** What a route answers. */
export const REST_METHODS = ["GET", "HEAD"] as const;

/** A request as the router leaves it: path variables decoded, the query raw and without its "?". */
interface RestRequest {
  Params: Record<string, string>;
  Querystring: { readonly raw: string };
}

/** Serves a route: GET, and HEAD like GET without the body. */
export function serveRoute(app: FastifyInstance, route: Route, port: Port): void {
  app.route<RestRequest>({
    method: [...REST_METHODS],
    url: routerPath(route.segments),
    handler: async (request, reply) => {
      // "{id}" stands for one segment, and a segment is not empty: http.proto. The router lets it pass.
      if (Object.values(request.params).includes("")) return refuse(port, reply, notFound());
      return sendAnswer(reply, await answer(route, request, reply, port), port.draining);
    },
  });
}

async function answer(
  route: Route,
  request: FastifyRequest<RestRequest>,
  reply: FastifyReply,
  port: Port,
): Promise<Answer> {
  try {
    const message = await port.rpc.call({
      method: route.method,
      door: "rest",
      requestId: request.id,
      credentials: credentialsOf(request.raw.rawHeaders),
      deadline: Number.POSITIVE_INFINITY,
      signal: departureOf(reply.raw),
      request: () => route.bind(request.params, request.query.raw),
    });
    return { status: 200, headers: {}, body: route.write(message) };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) {
      // The Rpc throws Failures alone and logs them itself: this is a response that cannot be written.
      port.log?.error(
        { requestId: request.id, method: route.method.name, err: thrown },
        "cannot answer",
      );
    }
    return failureAnswer(Failure.from(thrown));
  }
}
