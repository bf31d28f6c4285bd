/** The files of TLS: mistakes in them, and their replacement while they are used. */
import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  parseCertificates,
  readContents,
  type TlsFiles,
} from "../../../src/config/certificates.ts";
import { mistakesOf } from "../../../src/config/mistake.ts";
import { watchCertificates } from "../../../src/tls/certificate-watch.ts";
import { createAuthority, createFiles, type Pair } from "../../support/tls/certificates.ts";

const authority = await createAuthority();
const [pair, other] = await Promise.all([authority.issue(), authority.issue()]);

/** The files of a pair. */
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

const chain = (rest: string) => ({ ...pair, cert: `${pair.cert}\n${rest}` });
const [old, early] = await Promise.all([
  authority.issue({ days: [-3, -2] }),
  authority.issue({ days: [1, 3] }),
]);

it.each<[string, Pair, string | undefined, (string | RegExp)[]]>([
  ["have a chain", chain(authority.cert), authority.cert, []],
  ["are empty", { cert: "", key: "" }, "", [NOT_PEM, NO_KEY, NO_CA]],
  ["have a half-written chain", chain(half(authority.cert)), undefined, [NOT_PEM]],
  ["have half-written authorities", pair, authority.cert + half(authority.cert), [NO_CA]],
  ["do not belong together", { ...pair, key: other.key }, undefined, [OTHER_KEY]],
  ["have expired", old, undefined, [/^TLS_CERT_FILE has expired, at \d{4}-\d\d-\d\dT[\d:.]+Z$/]],
  ["are not valid yet", early, undefined, [/^TLS_CERT_FILE is not valid before \d{4}-/]],
])("if the files %s, every mistake is reported", (_, pair, ca, expected) => {
  expect(mistakesOf(() => parseCertificates(readContents(write(pair, ca).files)))).toEqual(
    expected.map((text) => (typeof text === "string" ? text : expect.stringMatching(text))),
  );
});

/** Watches files until the end of the test, and collects what is logged. */
function watch(files: TlsFiles) {
  const errors: { problems?: string[] }[] = [];
  const log = { info() {}, warn() {}, error: (fields: object) => void errors.push(fields) };
  const watch = watchCertificates(files, log);
  return { watch, errors, used: () => watch.current.contents.TLS_CERT_FILE };
}

describe("while they are used,", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "Date"] }));
  afterEach(() => void vi.useRealTimers());
  /** Lets the files be read so many times. */
  const wait = (checks: number) => vi.advanceTimersByTime(checks * 1_000);

  it("files that are replaced one after the other are used together, without an error", () => {
    const files = write(pair);
    const { watch: certificates, errors, used } = watch(files.files);
    const changes: string[] = [];
    certificates.onChange(({ contents }) => changes.push(contents.TLS_CERT_FILE));
    files.write({ key: other.key });
    wait(1);
    expect(used()).toBe(pair.cert);
    files.write({ cert: other.cert });
    wait(10);
    expect(used()).toBe(other.cert);
    expect(changes).toEqual([other.cert]);
    expect(errors).toEqual([]);
  });

  it("a pair that does not belong together is not used, and logged once", () => {
    const files = write(pair);
    const { watch: certificates, errors, used } = watch(files.files);
    files.write({ key: other.key });
    wait(20);
    expect(errors).toEqual([{ problems: [OTHER_KEY] }]);
    expect(certificates.failures).toBe(1);
    expect(used()).toBe(pair.cert);
    rmSync(files.files.TLS_KEY_FILE);
    wait(20);
    const missing = expect.stringMatching(
      /^TLS_KEY_FILE names .*, which cannot be read \(ENOENT\)$/,
    );
    expect(errors.slice(1)).toEqual([{ problems: [missing] }]);
    files.write(other);
    wait(2);
    expect(used()).toBe(other.cert);
  });

  it("a certificate that is not valid yet is used once it is", () => {
    const files = write(pair);
    const { errors, used } = watch(files.files);
    files.write(early);
    wait(2);
    expect(errors).toHaveLength(1);
    expect(used()).toBe(pair.cert);
    vi.setSystemTime(Date.now() + 2 * 86_400_000);
    wait(1);
    expect(used()).toBe(early.cert);
  });
});
