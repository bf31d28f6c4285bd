/**
 * TLS on accepted connections. The ports accept TCP connections themselves, so that their limits
 * apply before a handshake, and hand them over. TLS 1.2 or later, with the ciphers of the runtime.
 */
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { Certificates } from "../config/certificates.ts";
import type { CertificateWatch } from "./certificate-watch.ts";

/** The default of `handshakeTimeout`, in ms. */
export const HANDSHAKE_TIMEOUT = 10_000;

/** What the TLS of a port is made of. */
export interface TerminationParts {
  readonly certificates: CertificateWatch;
  /** The protocols that are offered (ALPN), preferred ones first. */
  readonly protocols: readonly string[];
  /** Whether clients must present a certificate, if there are authorities for it. */
  readonly clientCertificates?: boolean;
  /** From the start of a connection to the end of the handshake, in ms. */
  readonly handshakeTimeout?: number;
  /** Counts connections that are closed: `tlsHandshakeTimeout`, `tlsHandshakeFailed`. */
  readonly report?: (event: string) => void;
}

/** A TLS connection, and the TCP connection under it. */
export type Secured = (socket: TLSSocket, transport: Socket) => void;

/** The TLS of a port. */
export interface Termination {
  /** Performs the handshake on a connection, then calls back. If it fails, the connection closes. */
  secure(transport: Socket, secured: Secured): void;
  /** Closes the connections whose handshake is not complete. */
  closeIncomplete(): void;
}

/** Creates the TLS of a port. New connections get the certificates that are in use by then. */
export function createTermination({
  certificates,
  protocols,
  clientCertificates = false,
  handshakeTimeout = HANDSHAKE_TIMEOUT,
  report = () => {},
}: TerminationParts): Termination {
  const incomplete = new Map<
    Socket,
    { readonly secured: Secured; readonly timer: NodeJS.Timeout }
  >();
  const contextOf = ({ contents }: Certificates): SecureContextOptions => ({
    cert: contents.TLS_CERT_FILE,
    key: contents.TLS_KEY_FILE,
    ca: clientCertificates ? contents.TLS_CLIENT_CA_FILE : undefined,
    minVersion: "TLSv1.2",
    // A renegotiation (TLS 1.2) costs the server more than the client.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  const context = contextOf(certificates.current);
  const asks = context.ca !== undefined;
  // It never listens: connections are handed to it.
  const server = createServer({
    ...context,
    ALPNProtocols: [...protocols],
    requestCert: asks,
    rejectUnauthorized: asks,
  });
  certificates.onChange((changed) => server.setSecureContext(contextOf(changed)));
  server.on("tlsClientError", (_error, socket) => {
    report("tlsHandshakeFailed");
    socket.destroy();
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", () => {});
    const transport = transportOf(socket);
    const handshake = incomplete.get(transport);
    settle(transport);
    // Node cannot reset a TLS connection.
    socket.resetAndDestroy = () => {
      transport.resetAndDestroy();
      return socket;
    };
    if (handshake === undefined) socket.destroy();
    else handshake.secured(socket, transport);
  });

  function settle(transport: Socket): void {
    clearTimeout(incomplete.get(transport)?.timer);
    incomplete.delete(transport);
  }

  return {
    secure(transport, secured) {
      transport.on("error", () => {});
      // A server of HTTP/1.1 accepts half-open connections. The TLS connection would take that over,
      // and a client that leaves would not be noticed.
      transport.allowHalfOpen = false;
      // Node's own time limit is one of silence.
      const timer = setTimeout(() => {
        report("tlsHandshakeTimeout");
        transport.resetAndDestroy();
      }, handshakeTimeout);
      incomplete.set(transport, { secured, timer });
      transport.once("close", () => settle(transport));
      server.emit("connection", transport);
    },
    closeIncomplete() {
      for (const transport of incomplete.keys()) transport.destroy();
    },
  };
}

/** The TCP connection that a TLS connection was made of. */
function transportOf(socket: TLSSocket): Socket {
  return (socket as TLSSocket & { readonly _parent: Socket })._parent;
}
