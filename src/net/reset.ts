/** Closing a connection at once. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** Closes a connection with a reset, so that the kernel drops what it has buffered. Node has none for TLS. */
export function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
