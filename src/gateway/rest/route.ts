/**
 * One RPC as a REST route: transcodes the request, runs the call, writes the response as JSON or
 * CSV. A client that has the response already (`If-None-Match`) gets a 304.
 */
import type { Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../errors.ts";
import { memoize } from "../../rpc/memoize.ts";
import { type GatewayContext, rejectRequest } from "../context.ts";
import { errorResponse, notFound } from "../errors.ts";
import { isBodyTooLarge } from "../http/body.ts";
import { addressOf, closeSignalOf, credentialsOf, traceHeadersOf } from "../request.ts";
import { type Body, type HttpResponse, JSON_TYPE, sendResponse } from "../response.ts";
import { RequestError } from "../transcoding/request-error.ts";
import type { Route } from "../transcoding/routes.ts";
import { chooseCoding, chooseMediaType, type MediaType } from "./negotiation.ts";
import { routerPath } from "./path.ts";
import {
  createRepresentation,
  MIN_COMPRESSED_BYTES,
  matchesTag,
  type Representation,
} from "./representation.ts";

/** The methods of a route. */
export const REST_METHODS = ["GET", "HEAD"] as const;

/** A request after routing: path variables are decoded, the query is raw and without its "?". */
interface RestRequest {
  Params: Record<string, string>;
  Querystring: { readonly raw: string };
}

/** The forms of a response, in order of preference, each with its writer. */
type Forms = ReadonlyMap<MediaType, Form>;

interface Form {
  readonly contentType: string;
  /** Coalesced calls get the same message object, which is written once. */
  readonly represent: (message: Message) => Representation;
}

/** Serves a route. HEAD is GET without the response body. */
export function serveRoute(app: FastifyInstance, route: Route, gateway: GatewayContext): void {
  const forms = formsOf(route);
  app.route<RestRequest>({
    method: [...REST_METHODS],
    url: routerPath(route.segments),
    handler: async (request, reply) => {
      // A path variable matches one non-empty segment (google/api/http.proto). Fastify's router
      // also matches an empty one.
      if (Object.values(request.params).includes("")) {
        return rejectRequest(gateway, reply, notFound());
      }
      return sendResponse(reply, await respond(route, forms, request, reply, gateway));
    },
  });
}

function formsOf({ write, writeCsv }: Route): Forms {
  const formOf = (contentType: string, writer: (message: Message) => string): Form => ({
    contentType,
    represent: memoize((message) => createRepresentation(writer(message))),
  });
  const forms = new Map([["application/json" as MediaType, formOf(JSON_TYPE, write)]]);
  if (writeCsv) forms.set("text/csv", formOf("text/csv; charset=utf-8; header=present", writeCsv));
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
    const form = mediaType && forms.get(mediaType);
    const { message, metadata } = await call.run(() => {
      if (form === undefined) throw new ServiceError("notAcceptable");
      return bind(route, request, gateway.maxMessageBytes);
    });
    return await successResponse(form as Form, message, request, {
      ...call.metadata,
      ...metadata,
    });
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

async function successResponse(
  { contentType, represent }: Form,
  message: Message,
  { headers }: FastifyRequest,
  metadata: Readonly<Record<string, string>>,
): Promise<HttpResponse<Body>> {
  const representation = represent(message);
  const { etag, body } = representation;
  const shared = {
    ...metadata,
    etag,
    // A cache asks for each request, and keeps nothing for others.
    "cache-control": "private, no-cache",
    vary: "accept, accept-encoding",
  };
  const known = headers["if-none-match"];
  if (known !== undefined && matchesTag(known, etag)) {
    return { status: 304, headers: shared, body: undefined };
  }
  const typed = { ...shared, "content-type": contentType };
  const coding =
    body.length < MIN_COMPRESSED_BYTES
      ? undefined
      : chooseCoding(headers["accept-encoding"] as string | undefined);
  if (coding === undefined) return { status: 200, headers: typed, body };
  const compressed = await representation.compressed(coding);
  return { status: 200, headers: { ...typed, "content-encoding": coding }, body: compressed };
}

function bind(route: Route, request: FastifyRequest<RestRequest>, maxMessage: number): Message {
  if (isBodyTooLarge(request.raw, maxMessage)) throw new ServiceError("messageTooLarge");
  try {
    return route.bind(request.params, request.query.raw);
  } catch (error) {
    if (error instanceof RequestError) throw new ServiceError("invalidArgument", error.message);
    throw error;
  }
}
