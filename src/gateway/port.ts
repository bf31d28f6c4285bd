/** The HTTP port: what everything on it shares. */
import type { FastifyReply } from "fastify";
import type { Door, Rpc } from "../rpc/call.ts";
import { type Answer, sendAnswer } from "./answer.ts";
import type { Log } from "./log.ts";

/** The port's parts and state. */
export interface Port {
  readonly rpc: Rpc;
  readonly log: Log | undefined;
  /** Whether it is on its way out: then every answer closes its connection. */
  draining: boolean;
}

/** Logs a request that became no call: one line, as the Rpc's of a call. */
export function logRefusal(port: Port, door: Door, requestId: string, status: number): void {
  port.log?.info({ requestId, door, status }, "refused");
}

/** Answers a request that becomes no call, and logs that. */
export function refuse(port: Port, reply: FastifyReply, answer: Answer): FastifyReply {
  logRefusal(port, "rest", reply.request.id, answer.status);
  return sendAnswer(reply, answer, port.draining);
}
