/**
 * Shutdown without losing a request:
 *
 * 1. The listener closes. Every response closes its connection, so that kept-alive clients leave.
 * 2. Idle connections are closed, the others as soon as their requests in flight are finished.
 */
import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { HttpServerParts } from "./http-server.ts";

/** How long step 1 takes, in ms. */
const LAST_RESPONSES = 200;

/**
 * Shuts a gateway down. Resolves when its last connection is closed; connections that are still
 * open after `grace` ms are destroyed.
 */
export async function shutDown(
  app: FastifyInstance,
  { gateway, tls }: Pick<HttpServerParts, "gateway" | "tls">,
  grace: number,
): Promise<void> {
  const { connections } = gateway;
  const cut = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, grace);
  // Emitted when the last connection is closed.
  const closed = once(app.server, "close");
  // Connections that exist stay open: http-server.ts.
  app.server.close();
  gateway.draining = true;
  await sleep(Math.min(LAST_RESPONSES, grace));
  // A process that stood still meanwhile has not read the requests that came.
  await nextTurn();
  tls?.closeIncomplete();
  for (const exchanges of connections.values()) exchanges.drain();
  await closed;
  clearTimeout(cut);
  await app.close();
}
