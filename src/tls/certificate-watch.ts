/**
 * Reloads certificates whose files have changed. The contents are compared, not the times, so that
 * every way of replacing a file counts: a write, a rename, a switched link (Kubernetes).
 *
 * grpc-js has a watcher of its own. It refuses all connections after one failed read.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type Certificates,
  parseCertificates,
  readContents,
  type TlsFiles,
} from "../config/certificates.ts";
import type { Log } from "../telemetry/log.ts";

/** How often the files are read, in ms. They are small, and in memory as long as they are read so often. */
const CHECK_INTERVAL = 1_000;

/** The certificates in use. */
export interface CertificateWatch {
  readonly current: Certificates;
  /** How many times changed files could not be used. */
  readonly failures: number;
  /** Calls back with each further version. */
  onChange(listener: (certificates: Certificates) => void): void;
}

/**
 * Reads files, and again once a second. What has changed is used at once, unless it cannot be: then the
 * certificates in use stay, and the problem is logged when two checks in a row have found it, because
 * files are often replaced one after the other. The timer does not keep the process alive.
 *
 * @throws ConfigError if the files cannot be used at first
 */
export function watchCertificates(files: TlsFiles, log: Log): CertificateWatch {
  const listeners: ((certificates: Certificates) => void)[] = [];
  let current = parseCertificates(readContents(files));
  let failures = 0;
  /** The problem that the last check found, "" for none, and how many in a row have found it. */
  let [problem, checks] = ["", 0];

  function check(): void {
    let found = "";
    try {
      update();
    } catch (error) {
      found = (error as Error).message;
    }
    checks = found === problem ? checks + 1 : 1;
    problem = found;
    if (problem === "" || checks !== 2) return;
    failures++;
    const problems = problem.split("\n");
    log.error({ problems }, "certificates not reloaded: the last good ones stay in use");
  }

  function update(): void {
    const contents = readContents(files);
    if (isDeepStrictEqual(contents, current.contents)) return;
    current = parseCertificates(contents);
    for (const listener of listeners) listener(current);
    const { names, expiresAt } = current;
    log.info({ names, expiresAt: new Date(expiresAt).toISOString() }, "certificates reloaded");
  }

  setInterval(check, CHECK_INTERVAL).unref();
  return {
    get current() {
      return current;
    },
    get failures() {
      return failures;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
