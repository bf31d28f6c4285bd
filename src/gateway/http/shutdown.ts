/**
 * Shutdown without losing a request:
 *
 * 1. The listener closes, and each response is the last of its connection, so that kept-alive clients leave.
 * 2. Idle connections are closed, the others after their response.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { endConnection } from "./connections.ts";
import type { HttpServerParts } from "./http-server.ts";

/** How long step 1 takes, in ms. */
const LAST_RESPONSES = 200;

/**
 * Shuts a gateway down. Resolves when its last connection is closed; connections that are still
 * open after `grace` ms are destroyed.
 */
export async function shutDown(
  app: FastifyInstance,
  { connections, tls }: Pick<HttpServerParts, "connections" | "tls">,
  grace: number,
): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, grace);
  // Fastify says `connection: close` from now on. Connections that exist stay open: http-server.ts.
  const closed = app.close();
  for (const [socket, exchange] of connections) {
    if (exchange?.response.headersSent === false) endConnection(socket, exchange);
  }
  await sleep(Math.min(LAST_RESPONSES, grace));
  // A process that stood still meanwhile has not read the requests that came.
  await nextTurn();
  tls?.closeIncomplete();
  for (const [socket, exchange] of connections) endConnection(socket, exchange);
  await closed;
  clearTimeout(cut);
}
