/**
 * The HTTP server under the gateway: its limits, the order of responses on a connection, and JSON
 * responses to requests that Node rejects before any handler.
 *
 * An error on a socket, a request or a response ends that connection and nothing else: each has an
 * error listener for its whole life. Node removes its own when it hands a socket over (CONNECT),
 * and libraries remove theirs when they are done, while errors can still occur.
 */
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { AcceptConnection } from "../../net/connection-limit.ts";
import type { Termination } from "../../tls/termination.ts";
import type { GatewayContext } from "../context.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import { READ_METHODS } from "../path.ts";
import type { HttpResponse } from "../response.ts";
import { leavesBody } from "./body.ts";
import { createExchangeQueue } from "./exchange-queue.ts";
import { HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import { closeLingering } from "./lingering-close.ts";
import { isUnavailable, statusOf } from "./response-status.ts";
import { rejectOnSocket } from "./socket-response.ts";

const ignore = () => {};

class GuardedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    this.on("error", ignore);
  }
}

/** What an HTTP server is made of. */
export interface HttpServerParts {
  readonly gateway: GatewayContext;
  /** The limits that differ from the defaults. */
  readonly limits: Partial<HttpLimits>;
  /** Counts a connection. False if it was refused, and destroyed. */
  readonly acceptConnection: AcceptConnection;
  /** Counts connections that are closed: `responseTimeout`. */
  readonly report: (event: string) => void;
  /** TLS; without it, connections are not encrypted. */
  readonly tls: Termination | undefined;
}

/** Makes the server of a request handler. It does not listen yet. */
export function createHttpServer(
  handler: RequestListener,
  { gateway, acceptConnection, report, tls, ...parts }: HttpServerParts,
): Server {
  const limits = { ...HTTP_LIMITS, ...parts.limits };
  const { connections } = gateway;

  class GuardedResponse extends ServerResponse<GuardedRequest> {
    constructor(...parameters: ConstructorParameters<typeof ServerResponse<GuardedRequest>>) {
      super(...parameters);
      this.on("error", ignore);
    }

    /**
     * Every response, Connect-ES's included, closes its connection while the gateway drains, and
     * - if the rest of the body is not read: it would be taken for the next request, or delay it;
     * - if the service is overloaded: a client that goes away and comes back later helps.
     */
    override writeHead(status: number, ...rest: never[]): this {
      const { req, socket } = this;
      const code = statusOf(this) ?? status;
      const last = code === 503 || isUnavailable(this) || leavesBody(req, code);
      if (gateway.draining || last) this.setHeader("connection", "close");
      if (last && socket) {
        // Node ends a connection with this method after a response with `connection: close`.
        socket.destroySoon = () => closeLingering(socket);
        connections.get(socket)?.finish();
      }
      return Reflect.apply(super.writeHead, this, [code, ...rest]);
    }
  }

  const server = createServer({
    maxHeaderSize: limits.maxHeaderSize,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.connectionsCheckingInterval,
    keepAliveTimeout: limits.keepAliveTimeout,
    // The gateway checks it, and responds in JSON.
    requireHostHeader: false,
    IncomingMessage: GuardedRequest,
    ServerResponse: GuardedResponse,
  });
  server.setTimeout(limits.connectionTimeout);
  allowHalfOpen(server);
  // Node's own listener gives a connection a parser, which one that is refused must not cost.
  const [serve] = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (transport: Socket) => {
    if (!acceptConnection(transport)) return;
    if (tls === undefined) {
      open(transport);
      return;
    }
    tls.secure(transport, (socket) => {
      socket.allowHalfOpen = true;
      open(socket);
    });
  });
  function open(socket: Socket): void {
    serve?.call(server, socket);
    socket.on("error", ignore);
    const tooMany = { ...httpError(429), headers: { "retry-after": "1" } };
    const overflow = (method?: string) => rejectOnSocket(gateway, socket, tooMany, method);
    connections.set(socket, createExchangeQueue(socket, { ...limits, overflow, report }));
    socket.once("close", () => connections.delete(socket));
  }
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
 * Lets Node keep a connection that its client has half-closed until the last response has been
 * sent. `http.Server` has this property since Node 0.2; the type declarations lack it.
 */
function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
