/** What REST and Connect read from an HTTP exchange for a call: credentials, cancellation, trace, size. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Credentials } from "../auth/credentials.ts";
import { PROVIDER_HEADER } from "../auth/provider.ts";
import { MAX_MESSAGE_BYTES, ServiceError } from "../errors.ts";
import type { Addresses } from "../net/address.ts";
import type { IncomingCall } from "../rpc/call.ts";

const NONE: readonly string[] = [];
/** The header of a message's envelope in gRPC-Web, in bytes. */
const ENVELOPE = 5;

/**
 * The credentials in a message's `rawHeaders` (name, value, name, value …), repeated headers
 * included.
 *
 * `headers` would hide repetitions: Node keeps the first of two `authorization` headers and joins
 * two `x-api-key` headers into one value.
 *
 * @see https://nodejs.org/api/http.html#messageheaders
 */
export function credentialsOf(rawHeaders: readonly string[]): Credentials {
  return {
    xApiKey: valuesOf(rawHeaders, "x-api-key"),
    authorization: valuesOf(rawHeaders, "authorization"),
    xProviderId: valuesOf(rawHeaders, PROVIDER_HEADER),
  };
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) {
      values ??= [];
      values.push(rawHeaders[index + 1] ?? "");
    }
  }
  return values ?? NONE;
}

/** Whether a request has one valid Host header: RFC 9112, section 3.2. One over HTTP/1.0 may have none. */
export function hasHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const [host, another] = headersDistinct.host ?? [];
  if (host === undefined) return httpVersion !== "1.1";
  return another === undefined && URL.canParse(`http://${host}`);
}

/** The headers of W3C Trace Context. Node joins those that are repeated, which makes them invalid. */
export function traceHeadersOf({ headers }: IncomingMessage): IncomingCall["trace"] {
  const { traceparent, tracestate } = headers;
  return traceparent === undefined
    ? undefined
    : { traceparent: String(traceparent), tracestate: tracestate?.toString() };
}

/** The address of a request's client, as a key for limits. */
export function addressOf(addresses: Addresses, { socket, headers }: IncomingMessage): string {
  const forwardedFor = headers["x-forwarded-for"];
  return addresses.clientOf(socket.remoteAddress, forwardedFor?.toString());
}

/** Whether a request declares a body that is too large for any message. It is not read: Node discards it. */
export function isBodyTooLarge({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > MAX_MESSAGE_BYTES + ENVELOPE;
}

/**
 * A signal that aborts, with a `canceled` ServiceError, if the client disconnects before the
 * response is finished. The listener is on the response, not on the socket, so that a kept-alive
 * connection does not accumulate listeners.
 */
export function closeSignalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) controller.abort(new ServiceError("canceled"));
  });
  return controller.signal;
}
