/** Bodies that are not read to their end, because they are too large or not wanted. */
import type { IncomingMessage } from "node:http";
import { MAX_MESSAGE_BYTES } from "../../rpc/call.ts";

/** The header of a message's envelope in gRPC-Web, in bytes. */
const ENVELOPE = 5;

/** Whether a request declares a body that is too large for any message. */
export function isBodyTooLarge({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > MAX_MESSAGE_BYTES + ENVELOPE;
}

/**
 * Whether a response with this status is sent before the body of its request has arrived, and the
 * rest of the body is not worth reading. The small body of a GET is, if its length is known: it is
 * ignored, and its connection of use for the next request. A POST is served once its message has
 * arrived.
 */
export function leavesBody(request: IncomingMessage, status: number): boolean {
  const { method, headers, complete } = request;
  const isChunked = headers["transfer-encoding"] !== undefined;
  if (complete || !(isChunked || Number(headers["content-length"] ?? 0) > 0)) return false;
  const isIgnored = !isChunked && status < 400 && (method === "GET" || method === "HEAD");
  return !isIgnored || isBodyTooLarge(request);
}
