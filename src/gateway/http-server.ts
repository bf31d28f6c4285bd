/**
 * The HTTP server under the gateway: its limits, the order of what is sent on a connection, and
 * answers in JSON where Node would give an empty one itself, before any handler.
 *
 * An error on a socket, a request or a response ends that connection and nothing else: each has a
 * listener for errors from its construction to its end. Node takes its own off where it hands a
 * socket out (CONNECT), and libraries take theirs off when they are done, while errors still come.
 */
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Port } from "./context.ts";
import { httpError, methodNotAllowed } from "./errors.ts";
import { createExchangeQueue, type ExchangeQueue } from "./exchange-queue.ts";
import { REST_METHODS } from "./rest/route.ts";
import { refuseOnSocket } from "./socket-response.ts";

/** Limits of the port. Times in milliseconds, sizes in bytes. */
export const HTTP_LIMITS = {
  /** All headers together, the request line included. */
  maxHeaderSize: 16 * 1024,
  /** From a request's first byte (or the connection's start) to the end of its headers. */
  headersTimeout: 10_000,
  /** From there to the end of the request; its body is small or not wanted. */
  requestTimeout: 15_000,
  /** How often the two are looked at; Node's 30 s would make 40 s of 10 s. */
  connectionsCheckingInterval: 1000,
  /** Without a request: longer than a load balancer keeps its connections (AWS: 60 s). */
  keepAliveTimeout: 72_000,
  /** Without a byte in either direction during a request: longer than a call's deadline. */
  connectionTimeout: 30_000,
  /** One exchange in all, until the client has taken the last byte, however slowly it reads. */
  exchangeTimeout: 45_000,
};

const ignore = () => {};

class GuardedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    this.on("error", ignore);
  }
}

class GuardedResponse extends ServerResponse<GuardedRequest> {
  constructor(...parts: ConstructorParameters<typeof ServerResponse<GuardedRequest>>) {
    super(...parts);
    this.on("error", ignore);
  }
}

/** Finds the queue of a connection of this process's gateways. */
const queues = new WeakMap<Socket, ExchangeQueue>();

/** The queue of a connection; undefined for a socket that is no connection of a gateway. */
export function exchangesOf(socket: Socket): ExchangeQueue | undefined {
  return queues.get(socket);
}

/** The server of a handler. It does not listen yet. */
export function createHttpServer(handler: RequestListener, port: Port): Server {
  const { connectionTimeout, exchangeTimeout, ...options } = HTTP_LIMITS;
  const server = createServer({
    ...options,
    // Whether a host is named is looked at by the gateway, which answers in JSON.
    requireHostHeader: false,
    IncomingMessage: GuardedRequest,
    ServerResponse: GuardedResponse,
  });
  server.setTimeout(connectionTimeout);
  server.on("connection", (socket: Socket) => {
    socket.on("error", ignore);
    const answer = { ...httpError(429), headers: { "retry-after": "1" } };
    const overflow = () => refuseOnSocket(port, socket, answer);
    queues.set(socket, createExchangeQueue(socket, exchangeTimeout, overflow));
  });
  server.on("request", (request, response) => {
    queues.get(request.socket)?.add(request, response, () => handler(request, response));
  });
  const refuse = (socket: Socket, answer: Parameters<typeof refuseOnSocket>[2]) =>
    queues.get(socket)?.end(() => refuseOnSocket(port, socket, answer));
  server.on("checkExpectation", (request) => refuse(request.socket, httpError(417)));
  server.on("connect", (_request, socket: Socket) =>
    refuse(socket, methodNotAllowed(REST_METHODS)),
  );
  return server;
}
