/**
 * Moves a client that cancels often to a new connection before Node ends its session, which would
 * fail its other calls with INTERNAL. The session is closed gracefully (GOAWAY): its calls are
 * finished, and the client makes further calls on a new connection.
 */
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";

/** How many calls a client may cancel on one connection. */
export const MAX_RESETS = 5_000;

/** When Node ends a session: twice as many at once, and then this many each second. */
export const RESET_LIMIT = { streamResetBurst: 2 * MAX_RESETS, streamResetRate: 1_000 };

const resets = new WeakMap<ServerHttp2Session, number>();

/** Counts a stream when it ends, if it was reset. Call it when the stream is created. */
export function countReset(stream: ServerHttp2Stream): void {
  const session = stream.session as ServerHttp2Session | undefined;
  if (session === undefined) return;
  stream.once("close", () => {
    if (stream.rstCode === 0) return;
    const count = (resets.get(session) ?? 0) + 1;
    resets.set(session, count);
    if (count === MAX_RESETS && !session.closed) session.close();
  });
}
