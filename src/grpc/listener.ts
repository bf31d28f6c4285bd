/**
 * The listener of the gRPC port. It accepts connections, with the limits and the TLS of this service, and
 * hands them over to grpc-js.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { reportAcceptErrors } from "../net/accept-errors.ts";
import type { AcceptConnection } from "../net/connection-limit.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { PortTls } from "../tls/port-tls.ts";

/**
 * What a client of HTTP/2 begins with (RFC 9113, section 3.4), in bytes: 24 that are always the same, and the
 * header of its SETTINGS. Node ends a connection that begins otherwise.
 */
const PREFACE_BYTES = 24 + 9;

/** What a listener is made of. */
export interface ListenerParts {
  /** Decides on each connection before anything is read from it. */
  readonly acceptConnection: AcceptConnection;
  /** TLS; without it, connections are not encrypted. */
  readonly tls: PortTls | undefined;
  /** From the start of a connection, or the end of its handshake, until its preface has arrived, in ms. */
  readonly prefaceTimeout: number;
  /** How long the client may take to close a connection that this side has closed, in ms. */
  readonly closeTimeout: number;
  /** Counts connections that are closed, `prefaceTimeout`, and those that could not be accepted, `acceptFailed`. */
  readonly report: ReportEvent;
  /** Called with each TCP connection that is admitted. */
  readonly onConnection: (transport: Socket) => void;
  /** Serves a TCP connection, or TLS over one. */
  readonly serve: (socket: Socket) => void;
}

/** A listener. */
export interface Listener {
  /** Resolves to the port. Rejects with an Error that names the address if it cannot be listened on. */
  listen(host: string, port: number): Promise<number>;
  /** Accepts no further connections. */
  stopListening(): void;
  /** Closes connections whose TLS handshake is not complete. */
  closeIncomplete(): void;
  /** Resolves when it does not listen any more, and all connections are closed. */
  readonly closed: Promise<void>;
}

/** Creates a listener. It does not listen yet. */
export function createListener({
  acceptConnection,
  tls,
  prefaceTimeout,
  closeTimeout,
  report,
  onConnection,
  serve,
}: ListenerParts): Listener {
  const hasBegun = (socket: Socket) => socket.bytesRead >= PREFACE_BYTES;

  function open(socket: Socket): void {
    const timer = setTimeout(() => {
      if (hasBegun(socket)) return;
      report("prefaceTimeout");
      socket.destroy();
    }, prefaceTimeout).unref();
    socket.once("close", () => clearTimeout(timer));
    // Node closes a session gracefully, and then waits for the client without a limit.
    socket.once("finish", () => {
      const last = setTimeout(() => socket.destroy(), closeTimeout).unref();
      socket.once("close", () => clearTimeout(last));
    });
    serve(socket);
  }

  // It never listens: connections are handed to it, after they are admitted.
  const tlsServer = tls && createTlsServer(tls.options, open);
  if (tlsServer) tls.watch(tlsServer);
  const server = createServer((transport) => {
    transport.on("error", () => {});
    if (!acceptConnection(transport)) return;
    if (transport.remoteAddress === undefined) {
      transport.destroy(); // its client has reset it
      return;
    }
    onConnection(transport);
    if (tlsServer) tlsServer.emit("connection", transport);
    else open(transport);
  });
  reportAcceptErrors(server, report);
  return {
    async listen(host, port) {
      server.listen(port, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
    stopListening: () => server.close(),
    closeIncomplete: () => tls?.closeIncomplete(),
    closed: new Promise<void>((resolve) => void server.once("close", resolve)),
  };
}
