/**
 * Responses to requests that Node could not parse, or not in time. Node offers only the socket for
 * them. Fastify's own handler would write other fields and headers, not wait for the response before
 * it, and close at once.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { requestIdFrom } from "../../rpc/request-id.ts";
import { type GatewayContext, logRejection } from "../context.ts";
import { type HttpErrorStatus, httpError } from "../errors.ts";
import { commonHeaders, type HttpResponse, JSON_TYPE } from "../response.ts";
import { closeLingering } from "./lingering-close.ts";

/** The statuses of parser and server errors: https://nodejs.org/api/http.html#event-clienterror */
const STATUSES: Readonly<Record<string, HttpErrorStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** The first byte of a TLS handshake: RFC 8446, section 5.1. */
const HANDSHAKE = 0x16;

/** A code of Node or of its parser: a name from a fixed list. */
const KNOWN_CODE = /^(HPE|ERR_HTTP)_[A-Z_]+$/;

/** Handles Node's `clientError`: responds if no earlier request is unanswered, and closes. */
export function handleClientError(
  gateway: GatewayContext,
  error: NodeJS.ErrnoException & { readonly rawPacket?: unknown },
  socket: Socket,
): void {
  const exchanges = gateway.connections.get(socket);
  if (exchanges === undefined || error.code === "ECONNRESET" || socket.destroyed) {
    socket.destroy();
  } else {
    const { code = "", rawPacket } = error;
    const isTls = (rawPacket as Buffer | undefined)?.[0] === HANDSHAKE;
    const reason = isTls ? "tlsOnPlainPort" : code;
    const known = isTls || KNOWN_CODE.test(code) ? { reason } : {};
    const response = { ...httpError(STATUSES[code] ?? 400), ...known };
    exchanges.reject((method) => rejectOnSocket(gateway, socket, response, method));
  }
}

/**
 * Writes a response to a socket, logs it, and closes the connection.
 *
 * @param method the method of the request, if it is known
 */
export function rejectOnSocket(
  gateway: GatewayContext,
  socket: Socket,
  response: HttpResponse,
  method: string | undefined,
): void {
  const { status, headers, body } = response;
  const requestId = requestIdFrom(undefined);
  const fields = {
    "content-type": JSON_TYPE,
    "content-length": Buffer.byteLength(body),
    connection: "close",
    date: new Date().toUTCString(),
    ...commonHeaders(requestId),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  // RFC 9110, section 9.3.2: HEAD gets the headers only.
  const content = method === "HEAD" ? "" : body;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  closeLingering(socket, head + content);
  logRejection(gateway, requestId, response);
}
