/**
 * The end of a gateway, without losing a request: first every answer closes its connection
 * while new ones are still served, so that clients move away by themselves; then the
 * listener closes, what is in flight is finished, and idle connections go.
 */

import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Port } from "./port.ts";

/** For how long the port still takes on what comes, in milliseconds. */
const LAME_DUCK_MS = 200;

/** For how long a connection may be silent after the listener closed: its request may be on the way. */
const SILENCE_MS = 100;

/** How often connections that became idle are closed, in milliseconds. */
const SWEEP_MS = 20;

interface Drainable {
  readonly port: Port;
  readonly sockets: ReadonlySet<Socket>;
}

const drainables = new WeakMap<FastifyInstance, Drainable>();

/** Makes a gateway one that `stop` can end. Called before it listens. */
export function manageDrain(app: FastifyInstance, port: Port): void {
  const sockets = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  drainables.set(app, { port, sockets });
}

/**
 * Ends a gateway that `createGateway` made. Resolves when its last connection is closed;
 * what is not finished after `graceMs` milliseconds is cut off.
 */
export async function stop(app: FastifyInstance, graceMs: number): Promise<void> {
  const drainable = drainables.get(app);
  if (drainable === undefined) throw new Error("this is no gateway");
  const { port, sockets } = drainable;
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  port.draining = true;
  await sleep(Math.min(LAME_DUCK_MS, graceMs));
  const closed = app.close();
  // Fastify's close waits for every connection, but closes idle ones only once, at its start,
  // and for Node a connection that never sent a byte is not idle.
  const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
  const silence = setTimeout(() => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, SILENCE_MS);
  try {
    await closed;
  } finally {
    clearInterval(sweep);
    clearTimeout(silence);
    clearTimeout(cut);
  }
}
