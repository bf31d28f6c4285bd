import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { readCertificates, type TlsFiles } from "../../../src/config/certificates.ts";
import { watchCertificates } from "../../../src/tls/certificate-watch.ts";
import { until } from "../../support/poll.ts";
import { createAuthority, createFiles, type Pair } from "../../support/tls/certificates.ts";

const authority = await createAuthority();
const [first, second, expired] = await Promise.all([
  authority.issue(),
  authority.issue(),
  authority.issue({ days: [-3, -2] }),
]);

const INTERVAL = 10;

/** Watches files until the end of the test, and collects what is logged. */
function watch(files: TlsFiles) {
  const lines: { level: string; fields: object; message: string }[] = [];
  const line = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const log = { info: line("info"), error: line("error") };
  const certificates = readCertificates(files);
  const certificateWatch = watchCertificates({ files, certificates, log, interval: INTERVAL });
  onTestFinished(() => certificateWatch.stop());
  return {
    watch: certificateWatch,
    lines: (level: string) => lines.filter((line) => line.level === level),
    used: () => certificateWatch.current.contents.TLS_CERT_FILE,
  };
}

function write(pair: Pair) {
  const files = createFiles(pair);
  onTestFinished(() => files[Symbol.dispose]());
  return files;
}

it("changed files are used", async () => {
  const files = write(first);
  const { watch: certificates, lines, used } = watch(files.files);
  const seen: string[] = [];
  certificates.onChange(({ contents }) => seen.push(contents.TLS_CERT_FILE));
  files.write(second);
  await until(5_000, () => used() === second.cert);
  files.write(first);
  await until(5_000, () => used() === first.cert);
  expect(seen).toEqual([second.cert, first.cert]);
  expect(lines("info").map(({ message }) => message)).toEqual(
    Array(2).fill("certificates reloaded"),
  );
  expect(certificates.failures).toBe(0);
});

it("a link that is switched to other files, as Kubernetes does, is followed", async () => {
  const { folder } = write(first);
  const version = (name: string, { cert, key }: Pair) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "tls.crt"), cert);
    writeFileSync(join(folder, name, "tls.key"), key);
    symlinkSync(name, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  version("..1", first);
  const data = join(folder, "..data");
  const { used, lines } = watch({
    TLS_CERT_FILE: join(data, "tls.crt"),
    TLS_KEY_FILE: join(data, "tls.key"),
  });
  version("..2", second);
  await until(5_000, () => used() === second.cert);
  expect(lines("error")).toEqual([]);
});

it.each<[string, Partial<Pair>]>([
  ["half-written", { cert: second.cert.slice(0, 300) }],
  ["mismatched", { key: second.key }],
  ["expired", expired],
])("a pair that is %s is not used, and logged once", async (_, broken) => {
  const files = write(first);
  const { watch: certificates, lines, used } = watch(files.files);
  files.write(broken);
  await until(5_000, () => lines("error").length > 0);
  await sleep(20 * INTERVAL);
  expect(lines("error")).toHaveLength(1);
  expect(JSON.stringify(lines("error"))).not.toMatch(/BEGIN|MII/);
  expect(certificates.failures).toBe(1);
  expect(used()).toBe(first.cert);
  files.write(second);
  await until(5_000, () => used() === second.cert);
  files.write({ ...first, ...broken });
  await until(5_000, () => lines("error").length === 2);
});

it("a certificate that expires while it is in use is logged once", async () => {
  const soon = await authority.issue({ days: [-1, 2 / 86_400] });
  const { lines, used } = watch(write(soon).files);
  await until(10_000, () => lines("error").length > 0);
  await sleep(20 * INTERVAL);
  expect(lines("error")).toHaveLength(1);
  expect(lines("error")[0]?.fields).toEqual({
    problems: [expect.stringContaining("TLS_CERT_FILE has expired")],
  });
  expect(used()).toBe(soon.cert);
});

it("a certificate that is not valid yet is used from when it is", async () => {
  const early = await authority.issue({ days: [2 / 86_400, 1] });
  const files = write(first);
  const { lines, used } = watch(files.files);
  files.write(early);
  await until(5_000, () => lines("error").length > 0);
  expect(lines("error")[0]?.fields).toEqual({
    problems: [expect.stringContaining("TLS_CERT_FILE is not valid before")],
  });
  expect(used()).toBe(first.cert);
  await until(10_000, () => used() === early.cert);
});
