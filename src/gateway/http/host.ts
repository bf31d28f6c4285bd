/** The Host header of a request: RFC 9112, section 3.2. */
import type { IncomingMessage } from "node:http";
import { httpError } from "../errors.ts";
import type { HttpResponse } from "../response.ts";

/** `uri-host [ ":" port ]` (RFC 9110, section 7.2), and not empty. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::\d*)?$/i;

/**
 * The response to a request with a missing, repeated or invalid Host header; undefined if there is
 * nothing wrong with it. An HTTP/1.0 request may have none.
 */
export function checkHost({ headers, headersDistinct, httpVersion }: IncomingMessage) {
  const { host } = headers;
  if (host === undefined) return httpVersion === "1.1" ? reject("missing") : undefined;
  if ((headersDistinct.host?.length ?? 0) > 1) return reject("repeated");
  return HOST.test(host) ? undefined : reject("invalid");
}

function reject(reason: string): HttpResponse {
  const message = `${reason} Host header`;
  return { ...httpError(400, message), reason: message };
}
