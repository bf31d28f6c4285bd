/** HTTP responses as plain data, and how Fastify sends them. Connect-ES writes its own. */
import type { FastifyReply } from "fastify";

/** What a response can have as its body; undefined for a 304. */
export type Body = string | Buffer | undefined;

/** A response without the headers that all responses share. */
export interface HttpResponse<Content extends Body = string> {
  /** The HTTP status. */
  readonly status: number;
  /** Headers of this response only. They replace the common ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers have another content type. */
  readonly body: Content;
  /** For the log of rejections: one of a few fixed words, never the client's. */
  readonly reason?: string;
}

/** The header that carries the request id in both directions. */
export const REQUEST_ID = "x-request-id";

/** The content type of every response that Connect-ES does not write. */
export const JSON_TYPE = "application/json; charset=utf-8";

/**
 * The headers of every response, Connect's included. Figures are private and change: no caching.
 * A REST response with an entity tag replaces `cache-control`.
 */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    [REQUEST_ID]: requestId,
  };
}

/**
 * Sends a response. Fastify omits the body for HEAD. A 503 is the last of its connection: a client that goes
 * away and comes back later helps.
 */
export function sendResponse(reply: FastifyReply, response: HttpResponse<Body>): FastifyReply {
  const { status, headers, body } = response;
  const vary = [reply.getHeader("vary"), headers.vary].filter((value) => value !== undefined);
  reply.code(status).headers(commonHeaders(reply.request.id)).headers(headers);
  if (status === 503) reply.header("connection", "close");
  if (vary.length > 0) reply.header("vary", vary.join(", "));
  if (body !== undefined && headers["content-type"] === undefined) reply.type(JSON_TYPE);
  return reply.send(body);
}
