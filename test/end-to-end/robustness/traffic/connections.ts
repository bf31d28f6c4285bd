/** Connections that send some bytes and then end in one way or another. */
import { connect } from "node:net";

/** How a client ends its connection after it sent its bytes. Times in milliseconds. */
export type Ending =
  /** A reset, so many milliseconds after the last byte; 0 is at once. */
  | { readonly kind: "reset"; readonly after: number }
  /** Half a close: the client still reads until the service closes too. */
  | { readonly kind: "end" }
  /** A reset as soon as the first byte of an answer is there. */
  | { readonly kind: "reset at the answer" }
  /** The client reads what comes, and resets after a silence, with more patience at first. */
  | { readonly kind: "listen"; readonly patience: number; readonly silence: number };

/** After what time a connection that did not end by itself is reset. */
const LONGEST = 1_000;

/**
 * Connects to a port on this machine, sends bytes, and ends the connection. Resolves to what the
 * service sent, when the connection is closed. Whatever happens to the connection is no error.
 */
export function attack(port: number, bytes: Uint8Array, ending: Ending): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const received: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const reset = () => socket.resetAndDestroy();
  let timer = setTimeout(reset, ending.kind === "listen" ? ending.patience : LONGEST);
  const resetAfter = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(reset, ms);
  };
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    if (ending.kind === "reset at the answer") reset();
    if (ending.kind === "listen") resetAfter(ending.silence);
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

/** Does something with every item, with so many at a time. */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  action: (item: T) => Promise<unknown>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await action(next.value);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
