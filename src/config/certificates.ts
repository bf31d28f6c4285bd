/**
 * The files of TLS: certificate, private key, and the authorities of client certificates. No
 * message repeats anything that is in them.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { ConfigError, codeOf, mistakesOf, unreadable } from "./mistake.ts";

/** The paths of the files, by the names of their variables. */
export interface TlsFiles {
  /** The certificate, with the intermediate certificates after it. PEM. */
  readonly TLS_CERT_FILE: string;
  /** Its private key, without a passphrase. PEM. */
  readonly TLS_KEY_FILE: string;
  /** The authorities whose client certificates are accepted. PEM. None are asked for without it. */
  readonly TLS_CLIENT_CA_FILE?: string | undefined;
}

/** The settings that name the files. */
export interface TlsSettings {
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
  readonly tlsClientCaFile: string | undefined;
}

/** The files of TLS; undefined if the ports do not speak TLS. */
export function tlsFiles(settings: TlsSettings): TlsFiles | undefined {
  const { tlsCertFile, tlsKeyFile, tlsClientCaFile } = settings;
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  return {
    TLS_CERT_FILE: tlsCertFile,
    TLS_KEY_FILE: tlsKeyFile,
    TLS_CLIENT_CA_FILE: tlsClientCaFile,
  };
}

/** What is wrong with the settings of TLS, or in their files. */
export function tlsMistakes(settings: TlsSettings): readonly string[] {
  const files = tlsFiles(settings);
  if (files !== undefined) return mistakesOf(() => parseCertificates(readContents(files)));
  const { tlsCertFile, tlsKeyFile, tlsClientCaFile } = settings;
  const isSet = [tlsCertFile, tlsKeyFile, tlsClientCaFile].some((file) => file !== undefined);
  return isSet ? ["TLS needs both TLS_CERT_FILE and TLS_KEY_FILE"] : [];
}

/** A usable certificate with its key. */
export interface Certificates {
  /** The contents of the files. */
  readonly contents: TlsFiles;
  /** The end of its validity, in epoch ms. */
  readonly expiresAt: number;
  /** Whom it is for, for people: "DNS:revenue.example.com, IP Address:10.0.0.1". */
  readonly names: string;
}

/**
 * Checks the contents of the files, as of now.
 *
 * @throws ConfigError with what cannot be used, by the names of the variables
 */
export function parseCertificates(contents: TlsFiles): Certificates {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CLIENT_CA_FILE: ca } = contents;
  const mistakes: string[] = [];
  const attempt = <T>(problem: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch {
      mistakes.push(problem);
      return undefined;
    }
  };
  const certificate = attempt(`TLS_CERT_FILE ${NO_CERTIFICATE}`, () => parseAll(cert)[0]);
  const privateKey = attempt(`TLS_KEY_FILE ${NO_KEY}`, () => createPrivateKey(key));
  if (ca !== undefined) attempt(`TLS_CLIENT_CA_FILE ${NO_CERTIFICATE}`, () => parseAll(ca));
  if (certificate === undefined) throw new ConfigError(mistakes);
  const validFrom = certificate.validFromDate.getTime();
  const expiresAt = certificate.validToDate.getTime();
  const now = Date.now();
  if (now > expiresAt) mistakes.push(`TLS_CERT_FILE has expired, at ${instant(expiresAt)}`);
  if (now < validFrom) mistakes.push(`TLS_CERT_FILE is not valid before ${instant(validFrom)}`);
  if (privateKey && !certificate.checkPrivateKey(privateKey)) {
    mistakes.push("TLS_KEY_FILE is not the private key of the certificate in TLS_CERT_FILE");
  }
  if (mistakes.length === 0) {
    // What else the TLS library refuses: a key that is too short, for example.
    try {
      createSecureContext({ cert, key, ca });
    } catch (error) {
      mistakes.push(`the TLS library refuses the files of TLS (${codeOf(error)})`);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const names = certificate.subjectAltName ?? certificate.subject.replaceAll("\n", ", ");
  return { contents, expiresAt, names };
}

/**
 * Reads the files.
 *
 * @throws ConfigError with those that cannot be read, by the names of the variables
 */
export function readContents(files: TlsFiles): TlsFiles {
  const mistakes: string[] = [];
  const entries = Object.entries(files).filter(([, path]) => path !== undefined);
  const contents = entries.map(([name, path]) => {
    try {
      return [name, readFileSync(path, "utf8")];
    } catch (error) {
      mistakes.push(unreadable(name, path, error));
      return [];
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.fromEntries(contents);
}

const NO_CERTIFICATE = "holds no complete certificates in PEM";
const NO_KEY = "holds no private key in PEM without a passphrase";

/** Parses all certificates of a file. The TLS library would ignore what follows a broken one. */
function parseAll(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g) ?? [];
  if (blocks.length === 0) throw new Error("no certificate");
  return blocks.map((block) => new X509Certificate(block));
}

function instant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
