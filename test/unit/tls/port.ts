/** The TLS of a port. */
import { onTestFinished } from "vitest";
import { readCertificates } from "../../../src/config/certificates.ts";
import { watchCertificates } from "../../../src/tls/certificate-watch.ts";
import { createPortTls, type PortTlsParts } from "../../../src/tls/port-tls.ts";
import { createFiles, type Pair } from "../../support/tls/certificates.ts";

/** Creates the TLS of a port until the end of the test, and collects its events. */
export function openPortTls(
  protocol: PortTlsParts["protocol"],
  pair: Pair,
  handshakeTimeout = 10_000,
) {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const { files, ...folder } = createFiles(pair);
  onTestFinished(() => folder[Symbol.dispose]());
  const certificates = watchCertificates({
    files,
    certificates: readCertificates(files),
    log: { info() {}, warn() {}, error() {} },
  });
  onTestFinished(() => certificates.stop());
  const tls = createPortTls({ certificates, protocol, handshakeTimeout, report });
  return { events, parts: { tls, report } };
}
