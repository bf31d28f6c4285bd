/**
 * One RPC as a REST route: transcodes the request, runs the call, writes the response as JSON or
 * CSV. A client that has the response already (`If-None-Match`) gets a 304.
 */
import type { Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { memoize } from "../../rpc/memoize.ts";
import { FASTEST } from "../compression.ts";
import type { GatewayContext } from "../context.ts";
import { errorResponse } from "../errors.ts";
import { chooseMediaType, type MediaType } from "../negotiation.ts";
import { READ_METHODS } from "../path.ts";
import {
  createRepresentation,
  type Representation,
  representationResponse,
} from "../representation.ts";
import {
  addressOf,
  closeSignalOf,
  credentialsOf,
  isBodyTooLarge,
  traceHeadersOf,
} from "../request.ts";
import { type Body, type HttpResponse, JSON_TYPE, sendResponse } from "../response.ts";
import { RequestError } from "../transcoding/request-error.ts";
import type { Route } from "../transcoding/routes.ts";

const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** A cache asks for each request, and keeps nothing for others. */
const HEADERS = { "cache-control": "private, no-cache", vary: "accept, accept-encoding" };

/** A request after routing. The query is raw and without its "?". */
interface RestRequest {
  Querystring: { readonly raw: string };
}

/** Writes a response. Coalesced calls get the same message object, which is written once. */
type Represent = (message: Message) => Representation;

/** The forms of a response, in order of preference. */
type Forms = ReadonlyMap<MediaType, Represent>;

/** Serves a route. HEAD is GET without the response body. */
export function serveRoute(app: FastifyInstance, route: Route, gateway: GatewayContext): void {
  const forms = formsOf(route);
  app.route<RestRequest>({
    method: [...READ_METHODS],
    url: route.path,
    handler: async (request, reply) =>
      sendResponse(reply, await respond(route, forms, request, reply, gateway)),
  });
}

function formsOf({ write, writeCsv }: Route): Forms {
  const represent = (contentType: string, writer: (message: Message) => string): Represent =>
    memoize((message) => createRepresentation(writer(message), contentType, FASTEST));
  const forms = new Map<MediaType, Represent>([["application/json", represent(JSON_TYPE, write)]]);
  if (writeCsv) forms.set("text/csv", represent(CSV_TYPE, writeCsv));
  return forms;
}

async function respond(
  route: Route,
  forms: Forms,
  request: FastifyRequest<RestRequest>,
  reply: FastifyReply,
  gateway: GatewayContext,
): Promise<HttpResponse<Body>> {
  try {
    const call = await gateway.rpc.accept({
      method: route.method,
      protocol: "rest",
      requestId: request.id,
      credentials: credentialsOf(request.raw.rawHeaders),
      address: addressOf(gateway.addresses, request.raw),
      deadline: Number.POSITIVE_INFINITY,
      signal: closeSignalOf(reply.raw),
      trace: traceHeadersOf(request.raw),
    });
    const mediaType = chooseMediaType(request.headers.accept, [...forms.keys()]);
    const represent = mediaType && forms.get(mediaType);
    if (represent === undefined) {
      const error = new ServiceError("notAcceptable");
      call.reject(error);
      throw error;
    }
    const { message, metadata } = await call.run(() => bind(route, request));
    const representation = represent(message);
    const vary = [HEADERS.vary, call.metadata.vary].filter((names) => names !== undefined);
    const headers = { ...call.metadata, ...metadata, ...HEADERS, vary: vary.join(", ") };
    return await representationResponse(representation, request, headers, gateway.log);
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) {
      // The pipeline throws and logs ServiceErrors. Any other error was thrown by the writer.
      gateway.log.error(
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
    return route.bind(request.query.raw);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new ServiceError("invalidArgument", error.message);
  }
}
