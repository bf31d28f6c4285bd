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
import type { GatewayContext } from "../context.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import type { HttpResponse } from "../response.ts";
import { REST_METHODS } from "../rest/route.ts";
import { createExchangeQueue } from "./exchange-queue.ts";
import { closeLingering } from "./lingering-close.ts";
import { statusOf } from "./response-status.ts";
import { rejectOnSocket } from "./socket-response.ts";

/** Limits of the HTTP port. Times in milliseconds, sizes in bytes. */
export const HTTP_LIMITS = {
  /** All headers together, the request line included. */
  maxHeaderSize: 16 * 1024,
  /** From the first byte of a request (or the start of the connection) to the end of its headers. */
  headersTimeout: 10_000,
  /** From there to the end of the request. Bodies are small or not read. */
  requestTimeout: 15_000,
  /** How often the two are checked. With Node's 30 s, a timeout of 10 s could take 40 s. */
  connectionsCheckingInterval: 1000,
  /** Idle time between requests: longer than a load balancer keeps its connections (AWS: 60 s). */
  keepAliveTimeout: 72_000,
  /** Silence in both directions during a request: longer than a call's deadline. */
  connectionTimeout: 30_000,
  /** One exchange, until the client has received the last byte, however slowly it reads. */
  exchangeTimeout: 45_000,
};

const ignore = () => {};

class GuardedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    this.on("error", ignore);
  }
}

/** A POST is served once its message has arrived. The body of a GET is ignored. */
function isRefusal({ method }: IncomingMessage, status: number): boolean {
  return status >= 400 || (method !== "GET" && method !== "HEAD");
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Makes the server of a request handler. It does not listen yet. */
export function createHttpServer(handler: RequestListener, gateway: GatewayContext): Server {
  const { connectionTimeout, exchangeTimeout, ...options } = HTTP_LIMITS;
  const { connections } = gateway;

  class GuardedResponse extends ServerResponse<GuardedRequest> {
    constructor(...parameters: ConstructorParameters<typeof ServerResponse<GuardedRequest>>) {
      super(...parameters);
      this.on("error", ignore);
    }

    /**
     * Every response, Connect-ES's included, closes its connection while the gateway drains, and
     * if it refuses a request before the body has arrived: the rest of the body would be read as
     * the next request, or delay it.
     */
    override writeHead(status: number, ...rest: never[]): this {
      const { req, socket } = this;
      const code = statusOf(this) ?? status;
      const early = isRefusal(req, code) && hasBody(req) && !req.complete;
      if (gateway.draining || early) this.setHeader("connection", "close");
      if (early && socket) {
        // Node ends a connection with this method after a response with `connection: close`.
        socket.destroySoon = () => closeLingering(socket);
        connections.get(socket)?.drain();
      }
      return Reflect.apply(super.writeHead, this, [code, ...rest]);
    }
  }

  const server = createServer({
    ...options,
    // The gateway checks it, and responds in JSON.
    requireHostHeader: false,
    IncomingMessage: GuardedRequest,
    ServerResponse: GuardedResponse,
  });
  server.setTimeout(connectionTimeout);
  server.on("connection", (socket: Socket) => {
    socket.on("error", ignore);
    const response = { ...httpError(429), headers: { "retry-after": "1" } };
    const overflow = () => rejectOnSocket(gateway, socket, response);
    connections.set(socket, createExchangeQueue(socket, exchangeTimeout, overflow));
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (request, response) => {
    connections.get(request.socket)?.add(request, response, () => handler(request, response));
  });
  const reject = (socket: Socket, response: HttpResponse) =>
    connections.get(socket)?.reject(() => rejectOnSocket(gateway, socket, response));
  server.on("checkExpectation", (request) => reject(request.socket, httpError(417)));
  server.on("connect", (_request, socket: Socket) =>
    reject(socket, methodNotAllowed(REST_METHODS)),
  );
  return server;
}
