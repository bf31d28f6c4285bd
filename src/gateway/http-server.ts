/**
 * The HTTP server under the gateway: its limits, and answers in JSON where Node would give
 * an empty one itself, before any handler.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { httpError, methodNotAllowed } from "./errors.ts";
import type { Port } from "./port.ts";
import { REST_METHODS } from "./rest.ts";
import { refuseOnSocket } from "./socket-answer.ts";

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
};

/** The server of a handler. It does not listen yet. */
export function createHttpServer(handler: RequestListener, port: Port): Server {
  const { connectionTimeout, ...options } = HTTP_LIMITS;
  // Whether a host is named is looked at by the gateway, which answers in JSON.
  const server = createServer({ ...options, requireHostHeader: false }, handler);
  server.setTimeout(connectionTimeout);
  server.on("checkExpectation", (request) => {
    refuseOnSocket(port, request.socket, httpError(417));
  });
  server.on("connect", (_request, socket: Socket) => {
    refuseOnSocket(port, socket, methodNotAllowed(REST_METHODS));
  });
  return server;
}
