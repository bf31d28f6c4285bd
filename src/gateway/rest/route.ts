/** One RPC as a REST route: transcodes the request, runs the call, writes the response as JSON. */
import type { Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { memoize } from "../../rpc/memoize.ts";
import { type GatewayContext, rejectRequest } from "../context.ts";
import { errorResponse, notFound } from "../errors.ts";
import { isBodyTooLarge } from "../http/body.ts";
import { addressOf, closeSignalOf, credentialsOf } from "../request.ts";
import { type HttpResponse, sendResponse } from "../response.ts";
import { RequestError } from "../transcoding/request-error.ts";
import type { Route } from "../transcoding/routes.ts";
import { routerPath } from "./path.ts";

/** The methods of a route. */
export const REST_METHODS = ["GET", "HEAD"] as const;

/** A request after routing: path variables are decoded, the query is raw and without its "?". */
interface RestRequest {
  Params: Record<string, string>;
  Querystring: { readonly raw: string };
}

/** Serves a route. HEAD is GET without the response body. */
export function serveRoute(app: FastifyInstance, route: Route, gateway: GatewayContext): void {
  // Coalesced calls get the same message object, which is written once.
  const write = memoize(route.write);
  app.route<RestRequest>({
    method: [...REST_METHODS],
    url: routerPath(route.segments),
    handler: async (request, reply) => {
      // A path variable matches one non-empty segment (google/api/http.proto). Fastify's router
      // also matches an empty one.
      if (Object.values(request.params).includes("")) {
        return rejectRequest(gateway, reply, notFound());
      }
      return sendResponse(reply, await respond(route, write, request, reply, gateway));
    },
  });
}

async function respond(
  route: Route,
  write: (message: Message) => string,
  request: FastifyRequest<RestRequest>,
  reply: FastifyReply,
  gateway: GatewayContext,
): Promise<HttpResponse> {
  try {
    const call = await gateway.rpc.accept({
      method: route.method,
      protocol: "rest",
      requestId: request.id,
      credentials: credentialsOf(request.raw.rawHeaders),
      address: addressOf(gateway.addresses, request.raw),
      deadline: Number.POSITIVE_INFINITY,
      signal: closeSignalOf(reply.raw),
    });
    const message = await call.run(() => bind(route, request));
    return { status: 200, headers: call.metadata, body: write(message) };
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) {
      // The pipeline throws and logs ServiceErrors. Any other error was thrown by the writer.
      gateway.log?.error(
        { requestId: request.id, method: route.method.name, err: thrown },
        "cannot write the response",
      );
    }
    return errorResponse(ServiceError.from(thrown));
  }
}

function bind(route: Route, request: FastifyRequest<RestRequest>): Message {
  if (isBodyTooLarge(request.raw)) throw new ServiceError("messageTooLarge");
  try {
    return route.bind(request.params, request.query.raw);
  } catch (error) {
    if (error instanceof RequestError) throw new ServiceError("invalidArgument", error.message);
    throw error;
  }
}
