/**
 * The HTTP/2 sessions of the gRPC port, with options that grpc-js does not pass on. With Node's
 * defaults, a client that cancels often loses its connection, and its other calls fail with it: Node
 * ends a session after 1,000 resets, or after 100 streams that arrive while the server is still
 * removing cancelled ones.
 */
import { subscribe } from "node:diagnostics_channel";
import { performServerHandshake, type ServerOptions } from "node:http2";
import type { Server, Socket } from "node:net";

/** Published when a server is about to listen: https://nodejs.org/api/diagnostics_channel.html */
const LISTEN = "tracing:net.server.listen:asyncStart";

/** Creates the sessions of all HTTP/2 servers that listen from now on with these options. */
export function createSessionsWith(options: ServerOptions): void {
  subscribe(LISTEN, (message) => {
    const { server } = message as { server: Server };
    // Only grpc-js listens for sessions. An HTTP/1.1 server has none.
    if (server.listenerCount("session") === 0) return;
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      socket.on("error", () => {});
      const session = performServerHandshake(socket, options);
      session.on("error", () => {});
      session.on("stream", (...stream) => server.emit("stream", ...stream));
      server.emit("session", session);
    });
  });
}
