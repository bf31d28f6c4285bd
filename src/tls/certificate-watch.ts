/**
 * Reloads certificates whose files have changed.
 *
 * grpc-js has a watcher of its own. It refuses all connections after one failed read.
 */
import {
  type Certificates,
  parseCertificates,
  readContents,
  type TlsFiles,
} from "../config/certificates.ts";
import { follow } from "../config/follow.ts";
import type { Log } from "../telemetry/log.ts";

/** The certificates in use. */
export type CertificateWatch = ReturnType<typeof watchCertificates>;

/**
 * Reads files, and follows them. What cannot be used is logged, and the certificates in use stay.
 *
 * @throws ConfigError if the files cannot be used at first
 */
export function watchCertificates(files: TlsFiles, log: Log) {
  const listeners: ((certificates: Certificates) => void)[] = [];
  let current = parseCertificates(readContents(files));
  let failures = 0;
  follow({
    contents: current.contents,
    read: () => readContents(files),
    use(contents) {
      current = parseCertificates(contents);
      for (const listener of listeners) listener(current);
      const { names, expiresAt } = current;
      log.info({ names, expiresAt: new Date(expiresAt).toISOString() }, "certificates reloaded");
    },
    refuse(problems) {
      failures++;
      log.error({ problems }, "certificates not reloaded: the last good ones stay in use");
    },
  });
  return {
    get current() {
      return current;
    },
    /** How many times changed files could not be used. */
    get failures() {
      return failures;
    },
    /** Calls back with each further version. */
    onChange(listener: (certificates: Certificates) => void): void {
      listeners.push(listener);
    },
  };
}
