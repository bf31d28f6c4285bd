/** The HTTP port: what everything on it shares. */
import type { FastifyReply } from "fastify";
import type { Protocol, Rpc } from "../rpc/call.ts";
import type { Log } from "./log.ts";
import { type HttpResponse, sendResponse } from "./response.ts";

/** The port's parts and state. */
export interface Port {
  readonly rpc: Rpc;
  readonly log: Log | undefined;
  /** Whether it is on its way out: then every answer closes its connection. */
  draining: boolean;
}

/** Logs a request that became no call: one line, as the Rpc's of a call. */
export function logRefusal(
  port: Port,
  protocol: Protocol,
  requestId: string,
  status: number,
): void {
  port.log?.info({ requestId, protocol, status }, "refused");
}

/** Answers a request that becomes no call, and logs that. */
export function refuse(port: Port, reply: FastifyReply, answer: HttpResponse): FastifyReply {
  logRefusal(port, "rest", reply.request.id, answer.status);
  return sendResponse(reply, answer, port.draining);
}
