/**
 * Reloads certificates whose files have changed. The contents are compared, not the times, so that
 * every way of replacing a file counts: a write, a rename, a switched link (Kubernetes).
 *
 * grpc-js has a watcher of its own. It refuses all connections after one failed read.
 */
import { readFile } from "node:fs/promises";
import { setInterval } from "node:timers/promises";
import { type Certificates, readCertificates, type TlsFiles } from "../config/certificates.ts";
import { codeOf } from "../config/mistake.ts";
import type { Log } from "../telemetry/log.ts";

/** How often the files are read, in ms. */
export const CHECK_INTERVAL = 1_000;

/** The certificates in use. */
export interface CertificateWatch {
  readonly current: Certificates;
  /** How many times changed files could not be used. */
  readonly failures: number;
  /** Calls back with each further version. */
  onChange(listener: (certificates: Certificates) => void): void;
  /** Reads the files now. */
  check(): void;
  /** Stops reading the files. Reading does not keep the process alive. */
  stop(): void;
}

/** What a watch needs. */
export interface WatchParts {
  readonly files: TlsFiles;
  /** What was read from the files at start. */
  readonly certificates: Certificates;
  readonly log: Log;
  /** In ms. */
  readonly interval?: number;
}

/**
 * Starts to watch files. What cannot be used is ignored, and logged once, if the next check finds it
 * as well: files are often replaced one after the other.
 */
export function watchCertificates({
  files,
  certificates,
  log,
  interval = CHECK_INTERVAL,
}: WatchParts): CertificateWatch {
  const paths = Object.values(files).filter((path) => path !== undefined);
  const listeners: ((certificates: Certificates) => void)[] = [];
  let current = certificates;
  let failures = 0;
  let used = versionOf(Object.values(certificates.contents));
  /** The problem that the last check found, and the last that was logged; "" for none. */
  let found = "";
  let logged = "";
  const stopped = new AbortController();

  /** The texts of the files, and whether the certificate in use has expired by now. */
  function versionOf(texts: readonly string[]): string {
    return [...texts, Date.now() > current.expiresAt].join("\0");
  }

  async function check(): Promise<void> {
    const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(codeOf)));
    if (stopped.signal.aborted) return;
    let problem = "";
    if (versionOf(texts) !== used) {
      try {
        use(readCertificates(files));
        used = versionOf(texts);
      } catch (error) {
        problem = (error as Error).message;
      }
    }
    if (problem === found && problem !== logged) report(problem);
    found = problem;
  }

  function use(certificates: Certificates): void {
    current = certificates;
    logged = "";
    for (const listener of listeners) listener(current);
    const { names, expiresAt } = current;
    log.info({ names, expiresAt: new Date(expiresAt).toISOString() }, "certificates reloaded");
  }

  function report(problem: string): void {
    logged = problem;
    if (problem === "") return;
    failures++;
    const problems = problem.split("\n");
    log.error({ problems }, "certificates not reloaded: the last good ones stay in use");
  }

  async function run(): Promise<void> {
    const { signal } = stopped;
    for await (const _ of setInterval(interval, undefined, { ref: false, signal })) await check();
  }
  run().catch(() => {}); // ends with the signal

  return {
    get current() {
      return current;
    },
    get failures() {
      return failures;
    },
    onChange(listener) {
      listeners.push(listener);
    },
    check: () => {
      check();
    },
    stop: () => stopped.abort(),
  };
}
