/** Raw TCP connections that send bytes and then end in a chosen way. */
import { connect } from "node:net";
import { TIME_LIMIT } from "../../../../dev/time-limit.ts";

/** How a client ends its connection after it has sent its bytes. Times are in milliseconds. */
export type Ending =
  /** Reset after this time; 0 is at once. */
  | { readonly kind: "reset"; readonly after: number }
  /** Half-close: the client reads until the service closes too. */
  | { readonly kind: "end" }
  /** Reset when the first byte of the response arrives. */
  | { readonly kind: "reset at the response" }
  /** Read, and reset when nothing arrives for `first` at the start or for `silence` later. */
  | { readonly kind: "listen"; readonly first: number; readonly silence: number }
  /** Read, and reset when all of the response that is expected has arrived. */
  | { readonly kind: "read"; readonly isComplete: (response: string) => boolean };

/** When a connection that waits for nothing in particular is reset, in milliseconds. */
const TIMEOUT = 1_000;

/**
 * Connects to a local port, sends bytes and ends the connection. Resolves to the received bytes when
 * the connection is closed. It never rejects: the connection may fail in any way.
 */
export function attack(port: number, bytes: Uint8Array, ending: Ending): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const received: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const reset = () => socket.resetAndDestroy();
  let timer = setTimeout(reset, timeoutOf(ending));
  const resetAfter = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(reset, ms);
  };
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    if (ending.kind === "reset at the response") reset();
    if (ending.kind === "listen") resetAfter(ending.silence);
    if (ending.kind === "read" && ending.isComplete(Buffer.concat(received).toString("latin1"))) {
      reset();
    }
  });
  socket.on("end", () => socket.end());
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(Buffer.concat(received));
  });
  socket.once("connect", () => {
    if (bytes.length > 0) socket.write(bytes);
    if (ending.kind === "end") socket.end();
    else if (ending.kind === "reset" && ending.after > 0) resetAfter(ending.after);
    else if (ending.kind === "reset") reset();
  });
  return promise;
}

function timeoutOf(ending: Ending): number {
  if (ending.kind === "read") return TIME_LIMIT;
  return ending.kind === "listen" ? ending.first : TIMEOUT;
}
