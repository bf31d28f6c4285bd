/** Closing a connection at once. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Closes a connection with a reset, so that the kernel drops what it has buffered. Node has none for TLS, and
 * while the connection is being shut down, libuv refuses it, and Node would never close the file.
 */
export function reset(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && socket.writableLength === 0;
  if (isShuttingDown || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
