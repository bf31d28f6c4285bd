/** State that all parts of a gateway share. */
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Addresses } from "../net/address.ts";
import type { Rpc } from "../rpc/call.ts";
import type { Log } from "../telemetry/log.ts";
import type { Exchanges } from "./http/exchange.ts";
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
  /** The open connections, each with its exchanges. */
  readonly connections: Map<Socket, Exchanges>;
  /** Whether every response closes its connection, because the gateway is stopping. */
  draining: boolean;
}

/** Logs and counts a request that was rejected before it became a call. */
export function logRejection(
  gateway: GatewayContext,
  requestId: string,
  { status, reason }: Pick<HttpResponse, "status" | "reason">,
): void {
  gateway.countRejection?.(status);
  gateway.log.info({ requestId, status, reason }, "request rejected");
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
