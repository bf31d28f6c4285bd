/** TLS of a port: TLS 1.2 or later, with the ciphers of the runtime. */
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import type { SecureContextOptions, Server, TlsOptions } from "node:tls";
import type { Certificates } from "../config/certificates.ts";
import { endsOf } from "../net/ends.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { CertificateWatch } from "./certificate-watch.ts";

/** From the start of a connection to the end of its handshake, in ms. */
export const HANDSHAKE_TIMEOUT = 10_000;

/** What the TLS of a port is made of. */
export interface PortTlsParts {
  readonly certificates: CertificateWatch;
  /** The protocol that is offered (ALPN). */
  readonly protocol: "h2" | "http/1.1";
  /** Whether clients must present a certificate, if there are authorities for it. */
  readonly clientCertificates?: boolean;
  /** Counts connections that are closed: `tlsHandshakeTimeout`, `tlsHandshakeFailed`. */
  readonly report?: ReportEvent;
}

/** The TLS of a port. */
export interface PortTls {
  /** The options of the port's server, with the certificates that are in use now. */
  readonly options: TlsOptions;
  /** Keeps the certificates of the server up to date, and limits its handshakes. */
  watch(server: Server): void;
  /** Closes the connections whose handshake is not complete. */
  closeIncomplete(): void;
}

/** Creates the TLS of a port. New connections get the certificates that are in use by then. */
export function createPortTls({
  certificates,
  protocol,
  clientCertificates = false,
  report = () => {},
}: PortTlsParts): PortTls {
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
  /** The TCP connections whose handshake is not complete, by their ends. */
  const incomplete = new Map<string, Socket>();

  function begin(transport: Socket): void {
    const ends = endsOf(transport);
    // Its client may have connected again from the same port.
    const end = () => incomplete.get(ends) === transport && incomplete.delete(ends);
    incomplete.set(ends, transport);
    // Node's own time limit is one of silence.
    const timer = setTimeout(() => {
      if (!end()) return;
      report("tlsHandshakeTimeout");
      transport.resetAndDestroy();
    }, HANDSHAKE_TIMEOUT);
    transport.once("close", () => {
      clearTimeout(timer);
      // A load balancer that looks whether the port is open sends nothing.
      if (end() && transport.bytesRead > 0) report("tlsHandshakeFailed");
    });
  }

  return {
    options: {
      ...context,
      ALPNProtocols: [protocol],
      requestCert: asks,
      rejectUnauthorized: asks,
    },
    watch(server) {
      certificates.onChange((changed) => server.setSecureContext(contextOf(changed)));
      server.on("connection", begin);
      server.on("secureConnection", (socket) => {
        socket.on("error", () => {});
        incomplete.delete(endsOf(socket));
      });
      server.on("tlsClientError", (_error, socket) => void socket.destroy());
    },
    closeIncomplete() {
      const transports = [...incomplete.values()];
      incomplete.clear();
      for (const transport of transports) transport.destroy();
    },
  };
}
