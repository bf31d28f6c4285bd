/**
 * The HTTP server under the gateway: Node's, with the limits of the port, and one exchange at a time on a
 * connection. What is no HTTP is answered by Fastify.
 *
 * An error on a socket or a response ends that connection and nothing else: each has an error listener for
 * its whole life, because libraries remove theirs when they are done, while errors can still occur.
 */
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import { reportAcceptErrors } from "../../net/accept-errors.ts";
import { reset } from "../../net/reset.ts";
import type { ReportEvent } from "../../telemetry/event-log.ts";
import type { PortTls } from "../../tls/port-tls.ts";
import { type Connections, endConnection } from "./connections.ts";
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts";

const ignore = () => {};

/** What an HTTP server is made of. */
export interface HttpServerParts {
  /** Where it keeps its connections. */
  readonly connections: Connections;
  /** The limits that differ from the defaults. */
  readonly limits: Partial<HttpLimits>;
  /** Open connections; those beyond it are closed at once. */
  readonly maxConnections: number;
  /** Counts connections that are closed or refused: `responseTimeout`, `tooManyConnections`, `acceptFailed`. */
  readonly report: ReportEvent;
  /** TLS; without it, connections are not encrypted. */
  readonly tls: PortTls | undefined;
}

/** Makes the server of a request handler. It does not listen yet. */
export function createHttpServer(handler: RequestListener, parts: HttpServerParts): Server {
  const { connections, maxConnections, report, tls } = parts;
  const limits = { ...HTTP_LIMITS, ...parts.limits };
  // The gateway checks the Host header, and responds in JSON.
  const options = { ...limits, requireHostHeader: false };
  const secure = tls && new SecureServer({ ...options, ...tls.options });
  if (secure) tls.watch(secure);
  const server: Server = secure ?? new Server(options);
  // Node's would end responses to slow readers when the server closes, because they are buffered completely
  // (https://nodejs.org/api/http.html#serverclosecallback): test/unit/gateway/shutdown.test.ts.
  server.closeIdleConnections = ignore;
  server.maxConnections = maxConnections;
  server.on("drop", () => report("tooManyConnections"));
  reportAcceptErrors(server, report);
  server.setTimeout(limits.connectionTimeout);
  server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
    socket.on("error", ignore);
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", serveInTurn);
  // An expectation that is unknown is ignored, as RFC 9110, section 10.1.1, allows.
  server.on("checkExpectation", serveInTurn);
  return server;

  /**
   * Pipelining is declined (RFC 9112, section 9.3.2): a request that comes before the response to an earlier
   * one has begun is not served, and that response is the last. Else a connection would hold the responses to
   * all requests that fit into a packet. A response that has begun may be with its client before Node has
   * reported that it was sent; a request that comes then waits for that.
   */
  function serveInTurn(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const before = connections.get(socket);
    if (before?.response.headersSent === false) {
      endConnection(socket, before);
      // After Node has resumed it, at the end of the request.
      setImmediate(() => socket.pause());
      return;
    }
    const exchange = { response, isPublic: false };
    connections.set(socket, exchange);
    if (before === undefined) begin();
    else before.response.once("close", begin);

    function begin(): void {
      if (!socket.writable) return;
      response.on("error", ignore);
      const overdue = setTimeout(() => {
        report("responseTimeout");
        reset(socket);
      }, limits.responseTimeout);
      response.once("close", () => {
        clearTimeout(overdue);
        if (connections.get(socket) === exchange) connections.set(socket, undefined);
      });
      handler(request, response);
    }
  }
}
