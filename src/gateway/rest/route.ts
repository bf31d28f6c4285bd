/** REST: a route's request to a call, its response or error to JSON. */
import type { Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { memoize } from "../../rpc/memoize.ts";
import { closeSignalOf } from "../close-signal.ts";
import { type Port, refuse } from "../context.ts";
import { credentialsOf } from "../credentials.ts";
import { errorResponse, notFound } from "../errors.ts";
import { routerPath } from "../path.ts";
import { type HttpResponse, sendResponse } from "../response.ts";
import { RequestError } from "../transcoding/request-error.ts";
import type { Route } from "../transcoding/routes.ts";

/** The methods of a route. */
export const REST_METHODS = ["GET", "HEAD"] as const;

/** A request as the router leaves it: path variables decoded, the query raw and without its "?". */
interface RestRequest {
  Params: Record<string, string>;
  Querystring: { readonly raw: string };
}

/** Serves a route: GET, and HEAD like GET without the body. */
export function serveRoute(app: FastifyInstance, route: Route, port: Port): void {
  // Coalesced calls get one message, which is written once for all of them.
  const write = memoize(route.write);
  app.route<RestRequest>({
    method: [...REST_METHODS],
    url: routerPath(route.segments),
    handler: async (request, reply) => {
      // "{id}" stands for one segment, and a segment is not empty: http.proto. The router allows it.
      if (Object.values(request.params).includes("")) return refuse(port, reply, notFound());
      return sendResponse(reply, await respond(route, write, request, reply, port), port.draining);
    },
  });
}

async function respond(
  route: Route,
  write: (message: Message) => string,
  request: FastifyRequest<RestRequest>,
  reply: FastifyReply,
  port: Port,
): Promise<HttpResponse> {
  try {
    const call = await port.rpc.accept({
      method: route.method,
      protocol: "rest",
      requestId: request.id,
      credentials: credentialsOf(request.raw.rawHeaders),
      deadline: Number.POSITIVE_INFINITY,
      signal: closeSignalOf(reply.raw),
    });
    const message = await call.run(() => bind(route, request));
    return { status: 200, headers: {}, body: write(message) };
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) {
      // The pipeline throws and logs ServiceErrors; this is a response that cannot be written.
      port.log?.error(
        { requestId: request.id, method: route.method.name, err: thrown },
        "cannot write the response",
      );
    }
    return errorResponse(ServiceError.from(thrown));
  }
}

function bind(route: Route, request: FastifyRequest<RestRequest>): Message {
  try {
    return route.bind(request.params, request.query.raw);
  } catch (error) {
    if (error instanceof RequestError) throw new ServiceError("invalidArgument", error.message);
    throw error;
  }
}
