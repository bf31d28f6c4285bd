/**
 * The HTTP server under the gateway: its limits, one exchange at a time on a connection, and JSON
 * responses to requests that Node rejects before any handler.
 *
 * An error on a socket, a request or a response ends that connection and nothing else: each has an
 * error listener for its whole life. Node removes its own when it hands a socket over (CONNECT),
 * and libraries remove theirs when they are done, while errors can still occur.
 */
import {
  type IncomingMessage,
  type RequestListener,
  Server,
  type ServerOptions,
  ServerResponse,
} from "node:http";
import { Server as SecureServer } from "node:https";
import { Socket } from "node:net";
import { reportAcceptErrors } from "../../net/accept-errors.ts";
import type { AcceptConnection } from "../../net/connection-limit.ts";
import type { ReportEvent } from "../../telemetry/event-log.ts";
import type { PortTls } from "../../tls/port-tls.ts";
import type { GatewayContext } from "../context.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import { READ_METHODS } from "../path.ts";
import type { HttpResponse } from "../response.ts";
import { createExchanges } from "./exchange.ts";
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import { closeLingering } from "./lingering-close.ts";
import { statusOf } from "./response-status.ts";
import { rejectOnSocket } from "./socket-response.ts";

const ignore = () => {};

/** What an HTTP server is made of. */
export interface HttpServerParts {
  readonly gateway: GatewayContext;
  /** The limits that differ from the defaults. */
  readonly limits: Partial<HttpLimits>;
  /** Counts a connection. False if it was refused, and destroyed. */
  readonly acceptConnection: AcceptConnection;
  /** Counts connections that are closed, `responseTimeout`, and those that could not be accepted, `acceptFailed`. */
  readonly report: ReportEvent;
  /** TLS; without it, connections are not encrypted. */
  readonly tls: PortTls | undefined;
}

/** Makes the server of a request handler. It does not listen yet. */
export function createHttpServer(
  handler: RequestListener,
  { gateway, acceptConnection, report, tls, ...parts }: HttpServerParts,
): Server {
  const limits = { ...HTTP_LIMITS, ...parts.limits };
  const { connections } = gateway;

  class GuardedResponse extends ServerResponse<IncomingMessage> {
    constructor(...parameters: ConstructorParameters<typeof ServerResponse<IncomingMessage>>) {
      super(...parameters);
      this.on("error", ignore);
    }

    /**
     * Every response, Connect-ES's included, closes its connection while the gateway drains, if the
     * service is overloaded (a client that goes away and comes back later helps), and if Connect-ES
     * has stopped reading the body, because it is too large: Node would not discard the rest.
     */
    override writeHead(status: number, ...rest: never[]): this {
      const { req, socket } = this;
      const code = statusOf(this) ?? status;
      // A request that was read to its end is destroyed, too.
      const isLeft = req.destroyed && !req.complete;
      const last = gateway.draining || code === 503 || isLeft;
      if (last && socket) connections.get(socket)?.drain();
      return Reflect.apply(super.writeHead, this, [code, ...rest]);
    }
  }

  const server = createServer(tls, acceptConnection, {
    maxHeaderSize: limits.maxHeaderSize,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.connectionsCheckingInterval,
    keepAliveTimeout: limits.keepAliveTimeout,
    // The gateway checks it, and responds in JSON.
    requireHostHeader: false,
    ServerResponse: GuardedResponse as typeof ServerResponse,
  });
  reportAcceptErrors(server, report);
  server.setTimeout(limits.connectionTimeout);
  server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
    socket.on("error", ignore);
    // Node calls it after the last response. A client that is still sending would be answered by a reset,
    // which can overtake the response: https://github.com/nodejs/node/issues/12339.
    // http-connections.test.ts fails without it.
    socket.destroySoon = () => closeLingering(socket);
    connections.set(socket, createExchanges(socket, { ...limits, report }));
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    connections.get(request.socket)?.add(request, response, () => handler(request, response));
  });
  const reject = ({ socket, method }: IncomingMessage, response: HttpResponse) =>
    connections.get(socket)?.reject(() => rejectOnSocket(gateway, socket, response, method));
  server.on("checkExpectation", (request) => reject(request, httpError(417)));
  server.on("connect", (request) => reject(request, methodNotAllowed(READ_METHODS)));
  return server;
}

/**
 * Makes a server of which no listener sees a connection that is refused: Node's own would begin a
 * handshake on it.
 *
 * Its `close` leaves all connections open. Node's calls `closeIdleConnections`
 * (https://nodejs.org/api/http.html#serverclosecallback), which closes those whose response is buffered
 * completely, and so cuts off responses to slow readers: test/unit/gateway/shutdown.test.ts.
 */
function createServer(
  tls: PortTls | undefined,
  acceptConnection: AcceptConnection,
  options: ServerOptions,
): Server {
  const isRefused = (event: string | symbol, [transport]: readonly unknown[]) => {
    if (event !== "connection" || !(transport instanceof Socket)) return false;
    transport.on("error", ignore);
    return !acceptConnection(transport);
  };
  if (tls === undefined) {
    return new (class extends Server {
      override closeIdleConnections(): void {}
      override emit(event: string | symbol, ...values: unknown[]): boolean {
        return isRefused(event, values) || super.emit(event, ...values);
      }
    })(options);
  }
  const server = new (class extends SecureServer {
    override closeIdleConnections(): void {}
    override emit(event: string | symbol, ...values: unknown[]): boolean {
      return isRefused(event, values) || super.emit(event, ...values);
    }
  })({ ...options, ...tls.options });
  tls.watch(server);
  return server;
}
