/**
 * HTTP/2 on the HTTP port, over TLS: requests and responses as Fastify and Connect-ES know them from
 * HTTP/1.1 (Node's compatibility API). The sessions have the limits of the gRPC port.
 */
import type { EventEmitter } from "node:events";
import { METHODS, type RequestListener } from "node:http";
import {
  constants,
  createServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { UnreadSource } from "../../net/unread.ts";
import { requestIdFrom } from "../../rpc/request-id.ts";
import { type GatewayContext, logRejection } from "../context.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import { READ_METHODS } from "../path.ts";
import { commonHeaders, type HttpResponse, JSON_TYPE } from "../response.ts";
import { statusOf } from "./response-status.ts";

/** The sessions of the HTTP port. */
export interface Http2Sessions {
  /** Creates the session of a connection. `transport` is the TCP connection under TLS. */
  serve(server: EventEmitter, socket: Socket, transport: Socket): void;
  /** GOAWAY to all clients: their requests are finished, and their connections then close. */
  drain(): void;
  /** Closes all connections at once. */
  destroy(): void;
  /** The connections with bytes that their clients have not read. */
  readonly unread: UnreadSource;
}

/** Creates the sessions, given the rules for streams that are HTTP requests. */
export type CreateSessions = (rules: ReturnType<typeof httpStreams>) => Http2Sessions;

/** The rules for streams that are HTTP requests: they start at once, and may get 408. */
export function httpStreams(gateway: GatewayContext) {
  return {
    needsMessage: false,
    correctHeaders() {},
    endIncomplete(stream: ServerHttp2Stream) {
      const response = responses.get(stream);
      if (response === undefined) stream.close(constants.NGHTTP2_CANCEL);
      else reject(gateway, response, { ...httpError(408), reason: "ERR_HTTP_REQUEST_TIMEOUT" });
    },
  };
}

const responses = new WeakMap<ServerHttp2Stream, Http2ServerResponse>();

class GuardedRequest extends Http2ServerRequest {
  /** For `checkHost`: nghttp2 rejects a repeated Host header. */
  readonly headersDistinct = {};
}

class GuardedResponse extends Http2ServerResponse<GuardedRequest> {
  /** Does nothing if a response was sent instead of the handler's: 408. */
  override setHeader(...header: Parameters<Http2ServerResponse["setHeader"]>): void {
    if (!this.headersSent) super.setHeader(...header);
  }

  /** Does nothing in that case, too. */
  override writeHead(status: number, ...rest: never[]): this {
    if (this.headersSent) return this;
    const code = statusOf(this as never) ?? status;
    return Reflect.apply(super.writeHead, this, [code, ...rest]);
  }

  /**
   * Asks for more at once. Otherwise Fastify would keep back the rest of the body, and the bytes that
   * the client has not read could not be counted.
   */
  override write(...chunk: unknown[]): boolean {
    Reflect.apply(super.write, this, chunk);
    return true;
  }
}

/**
 * Makes the server of a request handler. It does not listen: sessions emit their streams to it.
 *
 * @param idleTimeout how long a connection may be silent, in ms
 */
export function createHttp2Server(
  handler: RequestListener,
  gateway: GatewayContext,
  idleTimeout: number,
): EventEmitter {
  const server = createServer({
    Http2ServerRequest: GuardedRequest,
    Http2ServerResponse: GuardedResponse,
  });
  server.on("session", (session: ServerHttp2Session) => {
    let open = 0;
    session.on("stream", (stream) => {
      open++;
      stream.once("close", () => open--);
    });
    // GOAWAY: a request that is on its way is sent again by its client.
    session.setTimeout(idleTimeout, () => {
      if (open === 0) session.close();
    });
  });
  server.on("request", (request, response) => {
    prepare(request, response);
    // RFC 9113, section 8.3.1: `:authority` stands for the Host header.
    request.headers.host ??= request.headers[":authority"];
    // Fastify's router knows the methods of Node's HTTP/1.1 parser only. No path has PROPFIND.
    if (!METHODS.includes(request.method)) request.headers[":method"] = "PROPFIND";
    handler(request as never, response as never);
  });
  server.on("checkExpectation", (request, response) => {
    prepare(request, response);
    reject(gateway, response, httpError(417));
  });
  server.on("connect", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    prepare(request, response);
    reject(gateway, response, methodNotAllowed(READ_METHODS));
  });
  return server;
}

function prepare(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { stream } = response;
  request.on("error", () => {});
  response.on("error", () => {});
  responses.set(stream, response);
  // Node also ends the stream of a client that has gone.
  const writableFinished = { get: () => response.writableEnded && stream.writableFinished };
  Object.defineProperty(response, "writableFinished", writableFinished);
}

/** Sends a response to a request that does not become a call, and logs it. */
function reject(
  gateway: GatewayContext,
  response: Http2ServerResponse,
  rejection: HttpResponse,
): void {
  const { status, headers, body } = rejection;
  if (response.headersSent || response.stream.destroyed) return;
  const requestId = requestIdFrom(undefined);
  response.writeHead(status, {
    "content-type": JSON_TYPE,
    "content-length": Buffer.byteLength(body),
    ...commonHeaders(requestId),
    ...headers,
  });
  response.end(body);
  logRejection(gateway, "rest", requestId, rejection);
}
