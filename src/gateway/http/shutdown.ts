/**
 * Shutdown without losing a request. Each step lets clients move away before the next one:
 *
 * 1. Everything is served as before, while clients that watch the health service leave.
 * 2. The listener closes. Every response closes its connection, so that kept-alive clients leave.
 * 3. Idle connections are closed, the others as soon as their requests in flight are finished.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { stopListening } from "../../net/listen.ts";
import type { HttpServerParts } from "./http-server.ts";

/** How long steps 1 and 2 take each, in ms. */
const LAME_DUCK = 200;

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
  await sleep(Math.min(LAME_DUCK, grace));
  // Emitted when the last connection is closed.
  const closed = once(app.server, "close");
  // Connections that exist stay open: http-server.ts.
  await stopListening(app.server);
  gateway.draining = true;
  await sleep(Math.min(LAME_DUCK, grace));
  tls?.closeIncomplete();
  for (const exchanges of connections.values()) exchanges.drain();
  await closed;
  clearTimeout(cut);
  await app.close();
}
