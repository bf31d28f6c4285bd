/**
 * The end of a connection in two steps (RFC 9113, section 6.8; gRFC A9): a GOAWAY with the highest stream
 * id, which asks the client to open no further stream, and when the client must have read it, Node's own
 * with the last stream (`session.close`). A stream that is on its way at the first one is served. At the
 * second it is refused, which gRPC's own clients try again, and proxies report to their callers.
 *
 * Node has no function for the first step: after `session.goaway`, with whatever id, nghttp2 ignores new
 * streams (https://nghttp2.org/documentation/nghttp2_submit_goaway.html). So the frame is written to the
 * socket below, between two of Node's, which writes whole frames. test/unit/grpc/goaway.test.ts fails if
 * it does not. Over TLS that is impossible, and the second step is the only one.
 */
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** Length 8, type GOAWAY, no flags, stream 0; the highest id, NO_ERROR. */
const FIRST_GOAWAY = Buffer.from(
  "000008" + "07" + "00" + "00000000" + "7fffffff" + "00000000",
  "hex",
);
/** How long the reply to the ping behind it is waited for, in ms. */
const PING_TIMEOUT = 1_000;

/** Sends the first GOAWAY. Resolves when the client must have read it, or does not reply. */
export function announceGoaway(session: ServerHttp2Session, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    // Writing to a TLS socket under HTTP/2 aborts the process.
    if (session.closed || session.destroyed || socket instanceof TLSSocket) {
      resolve();
      return;
    }
    socket.write(FIRST_GOAWAY);
    setTimeout(resolve, PING_TIMEOUT).unref();
    session.ping(() => resolve());
  });
}
