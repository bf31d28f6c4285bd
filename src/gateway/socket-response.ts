/**
 * Answers to what is not HTTP, or not in time: Node has no response for it, only the socket.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { requestIdFrom } from "../rpc/request-id.ts";
import { logRefusal, type Port } from "./context.ts";
import { type HttpErrorStatus, httpError } from "./errors.ts";
import type { ExchangeQueue } from "./exchange-queue.ts";
import { commonHeaders, type HttpResponse, JSON_TYPE } from "./response.ts";

/** For how long a refused client may still send; a reset at once could take the answer from it. */
const LINGER_MS = 1000;

/** The statuses of the parser's and the server's errors: https://nodejs.org/api/http.html#event-clienterror */
const STATUSES: Readonly<Record<string, HttpErrorStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** Answers a client's error (Node's `clientError`) after the responses before it, and closes. */
export function handleClientError(
  port: Port,
  error: Error & { readonly code?: string },
  socket: Socket,
  exchanges: ExchangeQueue | undefined,
): void {
  if (exchanges === undefined || error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
  } else {
    const answer = httpError(STATUSES[error.code ?? ""] ?? 400);
    exchanges.end(() => refuseOnSocket(port, socket, answer));
  }
}

/** Sends an answer on a bare socket, logs it, and closes the connection. */
export function refuseOnSocket(port: Port, socket: Socket, answer: HttpResponse): void {
  const requestId = requestIdFrom(undefined);
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`];
  const headers = {
    "content-type": JSON_TYPE,
    "content-length": Buffer.byteLength(answer.body),
    ...commonHeaders(requestId, true),
    ...answer.headers,
  };
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.end(`${lines.join("\r\n")}\r\n\r\n${answer.body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  logRefusal(port, "rest", requestId, answer.status);
}
