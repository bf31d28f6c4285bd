/** The TLS of a port. */
import { onTestFinished } from "vitest";
import { parseCertificates, readContents } from "../../../src/config/certificates.ts";
import { createPortTls, type PortTlsParts } from "../../../src/tls/port-tls.ts";
import { createFiles, type Pair } from "../../support/tls/certificates.ts";

/** Creates the TLS of a port until the end of the test, and collects its events. */
export function openPortTls(protocol: PortTlsParts["protocol"], pair: Pair) {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const { files, ...folder } = createFiles(pair);
  onTestFinished(() => folder[Symbol.dispose]());
  const current = parseCertificates(readContents(files));
  const certificates = { current, failures: 0, onChange() {} };
  const tls = createPortTls({ certificates, protocol, report });
  return { events, parts: { tls, report } };
}
