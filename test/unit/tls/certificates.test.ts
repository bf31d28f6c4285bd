import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readCertificates, type TlsFiles } from "../../../src/config/certificates.ts";
import { mistakesOf } from "../../../src/config/mistake.ts";
import { createAuthority, createFiles, type Pair } from "../../support/tls/certificates.ts";

const authority = await createAuthority();
const pair = await authority.issue();
const other = await authority.issue();

/** What is reported about the files. */
const mistakesIn = (files: TlsFiles) => mistakesOf(() => readCertificates(files));

/** The files of a pair, until the end of the test. */
function write(pair: Pair, ca?: string) {
  const files = createFiles(pair, ca);
  onTestFinished(() => files[Symbol.dispose]());
  return files;
}

const half = (pem: string) => pem.slice(0, pem.length / 2);
const NOT_PEM = "TLS_CERT_FILE holds no complete certificates in PEM";
const NO_KEY = "TLS_KEY_FILE holds no private key in PEM without a passphrase";
const OTHER_KEY = "TLS_KEY_FILE is not the private key of the certificate in TLS_CERT_FILE";
const NO_CA = "TLS_CLIENT_CA_FILE holds no complete certificates in PEM";

it.each<[string, Pair, string | undefined, (string | RegExp)[]]>([
  ["are as they should be", pair, authority.cert, []],
  ["have a chain", { ...pair, cert: `${pair.cert}\n${authority.cert}` }, undefined, []],
  ["are empty", { cert: "", key: "" }, "", [NOT_PEM, NO_KEY, NO_CA]],
  [
    "are half-written",
    { cert: half(pair.cert), key: half(pair.key) },
    undefined,
    [NOT_PEM, NO_KEY],
  ],
  [
    "have a half-written chain",
    { ...pair, cert: `${pair.cert}\n${half(authority.cert)}` },
    undefined,
    [NOT_PEM],
  ],
  ["have half-written authorities", pair, authority.cert + half(authority.cert), [NO_CA]],
  ["do not belong together", { ...pair, key: other.key }, undefined, [OTHER_KEY]],
  [
    "have expired",
    await authority.issue({ days: [-3, -2] }),
    undefined,
    [/^TLS_CERT_FILE has expired, at \d{4}-\d\d-\d\dT[\d:.]+Z$/],
  ],
  [
    "are not valid yet",
    await authority.issue({ days: [2, 3] }),
    undefined,
    [/^TLS_CERT_FILE is not valid before \d{4}-/],
  ],
  [
    "have a key with a passphrase",
    { ...pair, key: encryptedKey() },
    undefined,
    ["TLS_KEY_FILE holds no private key in PEM without a passphrase"],
  ],
])(
  "if the files %s, every mistake is reported, without their contents",
  (_, pair, ca, expected) => {
    const mistakes = mistakesIn(write(pair, ca).files);
    expect(mistakes).toEqual(
      expected.map((text) => (typeof text === "string" ? text : expect.stringMatching(text))),
    );
  },
);

it("a file that is missing is named with its path", () => {
  const { folder } = write(pair);
  const [cert, key] = [join(folder, "no.crt"), join(folder, "no.key")];
  expect(mistakesIn({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key })).toEqual([
    `TLS_CERT_FILE names ${cert}, which cannot be read (ENOENT)`,
    `TLS_KEY_FILE names ${key}, which cannot be read (ENOENT)`,
  ]);
});

it("the expiry and the names are those of the first certificate", async () => {
  const { files } = write({ ...pair, cert: `${pair.cert}\n${authority.cert}` });
  const { expiresAt, names } = readCertificates(files);
  expect(Math.abs(expiresAt - Date.now() - 86_400_000)).toBeLessThan(60_000);
  expect(names).toBe("DNS:localhost, IP Address:127.0.0.1");
});

function encryptedKey(): string {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" },
  });
  return privateKey;
}
