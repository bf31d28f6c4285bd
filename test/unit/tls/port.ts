/** The TLS of a port, on files that a test may replace. */
import { onTestFinished } from "vitest";
import { readCertificates } from "../../../src/config/certificates.ts";
import { watchCertificates } from "../../../src/tls/certificate-watch.ts";
import { createPortTls, type PortTlsParts } from "../../../src/tls/port-tls.ts";
import { createFiles, type Pair } from "../../support/tls/certificates.ts";

/**
 * Creates the TLS of a port until the end of the test, and collects its events. The files are read
 * every 10 ms.
 *
 * @param ca the authority of client certificates; none are asked for without it
 */
export function openPortTls(
  protocol: PortTlsParts["protocol"],
  pair: Pair,
  ca?: string,
  handshakeTimeout = 10_000,
) {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const files = createFiles(pair, ca);
  onTestFinished(() => files[Symbol.dispose]());
  const certificates = watchCertificates({
    files: files.files,
    certificates: readCertificates(files.files),
    log: { info() {}, error() {} },
    interval: 10,
  });
  onTestFinished(() => certificates.stop());
  const clientCertificates = ca !== undefined;
  const parts = { certificates, protocol, clientCertificates, handshakeTimeout, report };
  return { events, files, certificates, parts: { tls: createPortTls(parts), report } };
}
