/**
 * The end of a gateway, without losing a request: for a moment everything goes on, so that
 * whoever watches the service's health moves away; then the listener closes, at an instant
 * when no connection waits to be accepted; then every answer closes its connection, so that
 * kept-alive clients move away; at last what is in flight is finished and idle connections go.
 */
import { Server, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Port } from "./context.ts";

/** For how long everything goes on, and then for how long kept-alive clients may find out, in ms. */
const LAME_DUCK_MS = 200;

/** After how many turns of the event loop without a new connection none is waiting. */
const QUIET_TURNS = 3;

/** For how long such an instant is waited for, in milliseconds. */
const QUIET_MS = 200;

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
  await sleep(Math.min(LAME_DUCK_MS, graceMs));
  await quiet(app);
  // The listener alone: Fastify's close would cut idle connections with it, some of them while
  // their next request is on the way.
  Server.prototype.close.call(app.server);
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

/** Resolves when no connection waits to be accepted, as far as one can tell: it would be reset. */
async function quiet(app: FastifyInstance): Promise<void> {
  let turns = 0;
  const busy = () => {
    turns = 0;
  };
  app.server.on("connection", busy);
  const until = performance.now() + QUIET_MS;
  while (turns < QUIET_TURNS && performance.now() < until) {
    await nextTurn();
    turns++;
  }
  app.server.off("connection", busy);
}
