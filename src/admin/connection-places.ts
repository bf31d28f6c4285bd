/**
 * A limit on open connections that favours new ones: a probe opens one for each request, and must be
 * answered whoever holds all the others. The public ports refuse the newest instead: there, a client
 * at work is worth more than one that comes.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Keeps at most `max` connections of a server open. A further one takes the place of the one that has been
 * idle longest, or where none is idle, of the one that has waited longest for its response.
 */
export function limitConnections(server: Server, max: number): void {
  /** In order of the time since which they are idle, or wait. */
  const idle = new Set<Socket>();
  const waiting = new Set<Socket>();
  const forget = (socket: Socket) => idle.delete(socket) || waiting.delete(socket);

  server.on("connection", (socket: Socket) => {
    if (idle.size + waiting.size >= max) {
      const [oldest] = idle.size > 0 ? idle : waiting;
      // At once: its end comes later, and others may come before.
      if (oldest) forget(oldest);
      oldest?.destroy();
    }
    idle.add(socket);
    socket.once("close", () => forget(socket));
  });
  server.on("request", ({ socket }, response) => {
    if (idle.delete(socket)) waiting.add(socket);
    response.once("close", () => {
      if (waiting.delete(socket)) idle.add(socket);
    });
  });
}
