/** Certificates for tests, by a certificate authority of their own, and their files. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";

/** A certificate and its private key, in PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. By default it is for `localhost` and 127.0.0.1, for a day from now. */
export interface Subject {
  readonly name?: string;
  /** A host name; that of the server by default. */
  readonly host?: string;
  /** Leaves out the address 127.0.0.1. */
  readonly withoutAddress?: boolean;
  /** Start and end of the validity, in days from now. */
  readonly days?: readonly [from: number, to: number];
}

const DAY = 86_400_000;

/** Creates a certificate authority with a new key. */
export async function createAuthority(name = "test CA") {
  const ca = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate: new Date(Date.now() - 100 * DAY),
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    /** Its own certificate, in PEM. */
    cert: ca.cert,
    /** Issues a certificate for servers and clients. */
    async issue(subject: Subject = {}): Promise<Pair> {
      const { name = "test", host = "localhost", withoutAddress, days = [-1, 1] } = subject;
      const [from, to] = days.map((day) => new Date(Date.now() + day * DAY)) as [Date, Date];
      const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
        keyType: "ec",
        algorithm: "sha256",
        notBeforeDate: from,
        notAfterDate: to,
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          {
            name: "subjectAltName",
            altNames: [
              { type: 2, value: host },
              ...(withoutAddress ? [] : [{ type: 7 as const, ip: "127.0.0.1" }]),
            ],
          },
          { name: "extKeyUsage", serverAuth: true, clientAuth: true },
        ],
      });
      return { cert, key };
    },
  };
}

/** The files of a certificate, in a folder of their own. */
export type CertificateFiles = ReturnType<typeof createFiles>;

/** Writes the files. */
export function createFiles(pair: Pair, ca?: string) {
  const folder = mkdtempSync(join(tmpdir(), "certificates-"));
  const path = (name: string) => join(folder, name);
  const write = (contents: Readonly<Record<string, string | undefined>>) => {
    for (const [name, text] of Object.entries(contents)) {
      if (text === undefined) continue;
      writeFileSync(path(`${name}.new`), text);
      renameSync(path(`${name}.new`), path(name));
    }
  };
  write({ "tls.crt": pair.cert, "tls.key": pair.key, "ca.crt": ca });
  return {
    /** The variables that name the files. */
    files: {
      TLS_CERT_FILE: path("tls.crt"),
      TLS_KEY_FILE: path("tls.key"),
      ...(ca !== undefined && { TLS_CLIENT_CA_FILE: path("ca.crt") }),
    },
    folder,
    /** Replaces the contents, each file at once. */
    write: ({ cert, key, ca }: Partial<Pair> & { readonly ca?: string }) =>
      write({ "tls.crt": cert, "tls.key": key, "ca.crt": ca }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
