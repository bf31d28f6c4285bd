/** State that all parts of a gateway share. */
import type { Server } from "node:http";
import type { FastifyReply } from "fastify";
import type { Addresses } from "../net/address.ts";
import type { Rpc } from "../rpc/call.ts";
import type { Log } from "../telemetry/log.ts";
import type { Connections } from "./http/connections.ts";
import { type HttpResponse, sendResponse } from "./response.ts";

/** Counts a request that never becomes a call. */
export type CountRejection = (status: number) => void;

/** The parts and the state of one gateway. */
export interface GatewayContext {
  readonly rpc: Rpc;
  /**
   * The log of requests that never become a call, and of responses that cannot be written. Calls are
   * logged by the pipeline. URLs, headers and bodies are never logged.
   */
  readonly log: Log;
  /** Counts the requests that never become a call, by their HTTP status. */
  readonly countRejection: CountRejection | undefined;
  readonly addresses: Addresses;
  readonly connections: Connections;
}

/** Logs and counts a request that was rejected before it became a call. */
export function logRejection(
  gateway: GatewayContext,
  requestId: string | undefined,
  { status, reason }: Pick<HttpResponse, "status" | "reason">,
): void {
  gateway.countRejection?.(status);
  gateway.log.info({ requestId, status, reason }, "request rejected");
}

/** The statuses with which Fastify answers errors of Node and of its parser; 400 for all others. */
const CLIENT_ERRORS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Logs and counts what is no HTTP, or does not come in time. Fastify answers it. */
export function logClientErrors(gateway: GatewayContext, server: Server): void {
  server.prependListener("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    if (code === "ECONNRESET" || socket.destroyed) return;
    logRejection(gateway, undefined, { status: CLIENT_ERRORS[code] ?? 400, reason: code });
  });
}

/** Sends the response to a request that does not become a call, and logs it. */
export function rejectRequest(
  gateway: GatewayContext,
  reply: FastifyReply,
  response: HttpResponse,
): FastifyReply {
  logRejection(gateway, reply.request.id, response);
  return sendResponse(reply, response);
}
