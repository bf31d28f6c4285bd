/**
 * The start of a connection: the client's preface and SETTINGS (RFC 9113, section 3.4), and its
 * acknowledgement of ours, without which Node does not limit its streams.
 */
import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

/** nghttp2's NGHTTP2_ERR_BAD_CLIENT_MAGIC: what arrived first is no HTTP/2 preface. */
const BAD_PREFACE = -903;
/** Streams that a client may open before it acknowledges SETTINGS. */
const MAX_EARLY_STREAMS = 1_000;

/**
 * Destroys a connection whose start is not complete within `timeout` ms, whether or not bytes
 * arrive, and one that opens too many streams before. Node closes one that does not speak HTTP/2;
 * it is counted.
 */
export function expectPreface(
  session: ServerHttp2Session,
  socket: Socket,
  timeout: number,
  report: (event: string) => void,
): void {
  const timer = setTimeout(() => {
    report("prefaceTimeout");
    socket.destroy();
  }, timeout);
  let streams = 0;
  const count = () => {
    if (++streams !== MAX_EARLY_STREAMS) return;
    report("tooManyEarlyStreams");
    // Not while Node reads frames: its session must not end before the frames that it has read.
    setImmediate(() => {
      session.destroy(new Error("too many streams"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
      socket.destroy();
    });
  };
  session.on("stream", count);
  session.once("error", (error: NodeJS.ErrnoException) => {
    if (error.errno === BAD_PREFACE) report("notHttp2");
  });
  // The acknowledgement follows the client's own SETTINGS.
  session.once("localSettings", () => {
    clearTimeout(timer);
    session.off("stream", count);
  });
  socket.once("close", () => clearTimeout(timer));
}
