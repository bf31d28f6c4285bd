/**
 * Shutdown without losing a request. Each step lets clients move away before the next one:
 *
 * 1. Everything is served as before, while clients that watch the health service leave.
 * 2. The listener closes. Every response closes its connection, so that kept-alive clients leave.
 * 3. Idle connections are closed, the others as soon as their requests in flight are finished.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { HttpServerParts } from "./http-server.ts";

/** How long steps 1 and 2 take each, in ms. */
const LAME_DUCK = 200;

/** How long a turn of the event loop may take that counts as short, in ms. */
const SHORT_TURN = 0.2;
/** How long to wait for one without a new connection, in ms. */
const MAX_WAIT = 1_000;

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
  await closeListener(app.server);
  gateway.draining = true;
  await sleep(Math.min(LAME_DUCK, grace));
  tls?.closeIncomplete();
  for (const exchanges of connections.values()) exchanges.drain();
  await closed;
  clearTimeout(cut);
  await app.close();
}

/**
 * Stops accepting connections and keeps those that exist (http-server.ts).
 *
 * The kernel resets connections that it has established and the process has not accepted. So it
 * waits for a turn of the event loop that was short and had no new connection.
 */
async function closeListener(server: Server): Promise<void> {
  let accepted = false;
  const onConnection = () => {
    accepted = true;
  };
  server.on("connection", onConnection);
  const end = performance.now() + MAX_WAIT;
  for (let isQuiet = false, began = 0; !isQuiet && began < end; ) {
    accepted = false;
    began = performance.now();
    await nextTurn();
    isQuiet = !accepted && performance.now() - began < SHORT_TURN;
  }
  server.off("connection", onConnection);
  server.close();
}
