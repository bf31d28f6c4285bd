/**
 * Reloads certificates whose files have changed. The contents are compared, not the times, so that
 * every way of replacing a file counts: a write, a rename, a switched link (Kubernetes).
 *
 * grpc-js has a watcher of its own. It refuses all connections after one failed read.
 */
import { readFile } from "node:fs/promises";
import {
  type Certificates,
  checkCertificates,
  contentsOf,
  type TlsFiles,
} from "../config/certificates.ts";
import { ConfigError } from "../config/mistake.ts";

/** How often the files are read, in ms. */
export const CHECK_INTERVAL = 1_000;

/** The certificates in use. */
export interface CertificateWatch {
  readonly current: Certificates;
  /** How many times changed files could not be used. */
  readonly failures: number;
  /** Calls back with each further version. */
  onChange(listener: (certificates: Certificates) => void): void;
  /** Stops reading the files. Reading does not keep the process alive. */
  stop(): void;
}

/** What a watch needs. */
export interface WatchParts {
  readonly files: TlsFiles;
  /** What was read from the files at start. */
  readonly certificates: Certificates;
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
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
  const listeners: ((certificates: Certificates) => void)[] = [];
  let current = certificates;
  let failures = 0;
  /** The problems that the last check found, and those that were logged last. */
  let found = "";
  let logged = "";
  let stopped = false;
  const timer = setInterval(check, interval).unref();
  let checking = false;

  async function check(): Promise<void> {
    if (checking) return;
    checking = true;
    try {
      const contents = await read(files);
      const changed = Object.entries(contents).some(
        ([name, text]) => current.contents[name as keyof TlsFiles] !== text,
      );
      const now = Date.now();
      // Unchanged ones are checked again when they have expired.
      if (changed || now > current.expiresAt) {
        const checked = checkCertificates(contents, now);
        if (!stopped) use(checked);
      }
      found = logged = "";
    } catch (error) {
      const problems = error instanceof ConfigError ? error.mistakes : [String(error)];
      const text = problems.join("; ");
      if (text === found && text !== logged) {
        failures++;
        logged = text;
        log.error({ problems }, "certificates not reloaded: the last good ones stay in use");
      }
      found = text;
    } finally {
      checking = false;
    }
  }

  function use(certificates: Certificates): void {
    current = certificates;
    for (const listener of listeners) listener(current);
    const { names, expiresAt } = current;
    log.info({ names, expiresAt: new Date(expiresAt).toISOString() }, "certificates reloaded");
  }

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
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

async function read(files: TlsFiles) {
  const paths = Object.values(files).filter((path) => path !== undefined);
  const reads = await Promise.allSettled(paths.map((path) => readFile(path, "utf8")));
  const results = new Map(paths.map((path, index) => [path, reads[index]]));
  return contentsOf(files, (path) => {
    const result = results.get(path);
    if (result?.status === "fulfilled") return result.value;
    throw result?.reason;
  });
}
