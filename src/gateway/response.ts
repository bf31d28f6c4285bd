/**
 * An answer of the HTTP port as plain data, and how it goes out. Everything that is not
 * Connect's goes through here, so that all of it carries the same headers.
 */
import type { FastifyReply } from "fastify";

/** An answer without what all of them have in common. */
export interface HttpResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Headers of this answer alone. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** The header that carries the request's id, both ways. */
export const REQUEST_ID = "x-request-id";

/**
 * What every answer of the port carries, Connect's included: figures are private and change.
 *
 * @param last whether the connection closes after it
 */
export function commonHeaders(requestId: string, last: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    [REQUEST_ID]: requestId,
  };
  if (last) headers.connection = "close";
  return headers;
}

/** What every answer carries that is not Connect's. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** Sends an answer; Fastify leaves its body out where HEAD was asked. */
export function sendResponse(
  reply: FastifyReply,
  answer: HttpResponse,
  last: boolean,
): FastifyReply {
  return reply
    .code(answer.status)
    .headers(commonHeaders(reply.request.id, last))
    .headers(answer.headers)
    .type(JSON_TYPE)
    .send(answer.body);
}
