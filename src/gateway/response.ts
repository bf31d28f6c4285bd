/** HTTP responses as plain data, and how Fastify sends them. Connect-ES writes its own. */
import type { FastifyReply } from "fastify";

/** A response without the headers that all responses share. */
export interface HttpResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Headers of this response only. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** The header that carries the request id in both directions. */
export const REQUEST_ID = "x-request-id";

/** The content type of every response that Connect-ES does not write. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** The headers of every response, Connect's included. Figures are private and change: no caching. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    [REQUEST_ID]: requestId,
  };
}

/** Sends a response. Fastify omits the body for HEAD. */
export function sendResponse(reply: FastifyReply, response: HttpResponse): FastifyReply {
  return reply
    .code(response.status)
    .headers(commonHeaders(reply.request.id))
    .headers(response.headers)
    .type(JSON_TYPE)
    .send(response.body);
}
