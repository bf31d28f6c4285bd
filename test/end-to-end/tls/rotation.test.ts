/** Certificates that change under load, and broken ones. */
import { Agent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { poll, until } from "../../support/poll.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import {
  type Authority,
  type CertificateFiles,
  createAuthority,
  createFiles,
} from "../../support/tls/certificates.ts";
import { certificateName, getHttp1, grpcTlsClient } from "./clients.ts";

let authority: Authority;
let files: CertificateFiles;
let fixture: Fixture;
beforeAll(async () => {
  authority = await createAuthority();
  files = createFiles(await authority.issue({ name: "version 0" }));
  fixture = await createFixture(smallLedger, files.files);
});
afterAll(async () => {
  await fixture?.dispose();
  files?.[Symbol.dispose]();
});

const ports = () =>
  [fixture.service.http, `https://${fixture.service.grpc}`].map((url) => new URL(url).port);

const lines = (text: string) =>
  fixture.service.log().filter(({ msg }) => `${msg}`.startsWith(text));

/** Waits until both ports have a certificate. */
async function untilUsed(name: string): Promise<void> {
  for (const port of ports()) {
    await until(20_000, async () => (await certificateName(port, authority.cert)) === name);
  }
}

it("certificates that are replaced five times a second lose no call", async () => {
  const { key } = fixture;
  const { http, grpc } = fixture.service;
  const ca = authority.cert;
  const outcomes = new Map<string, number>();
  let stopped = false;
  const loop = async (name: string, call: () => Promise<number | string>) => {
    while (!stopped) {
      const outcome = await call().catch((error) => String(error));
      const label = `${name}: ${outcome}`;
      outcomes.set(label, (outcomes.get(label) ?? 0) + 1);
    }
  };
  const kept = {
    http: new Agent({ keepAlive: true, maxSockets: 1 }),
    grpc: grpcTlsClient(grpc, ca),
  };
  const onNew =
    <C extends { close(): void }, R>(open: () => C, call: (client: C) => Promise<R>) =>
    async () => {
      const client = open();
      return call(client).finally(() => client.close());
    };
  const loops = [
    loop("HTTP/1.1", () => getHttp1(http, ca, key)),
    loop(
      "gRPC",
      onNew(
        () => grpcTlsClient(grpc, ca),
        (client) => client.call(key),
      ),
    ),
    loop("HTTP/1.1, one connection", () => getHttp1(http, ca, key, kept.http)),
    loop("gRPC, one connection", () => kept.grpc.call(key)),
  ];
  const reloads = lines("certificates reloaded").length;
  for (let version = 1; version <= 20; version++) {
    files.write(await authority.issue({ name: `version ${version}` }));
    await sleep(200);
  }
  await untilUsed("version 20");
  stopped = true;
  await Promise.all(loops);
  kept.http.destroy();
  kept.grpc.close();
  expect([...outcomes.keys()].sort()).toEqual([
    "HTTP/1.1, one connection: 200",
    "HTTP/1.1: 200",
    "gRPC, one connection: OK",
    "gRPC: OK",
  ]);
  expect(lines("certificates reloaded").length).toBeGreaterThan(reloads + 1);
});

it("a broken pair keeps the last good one, with one error line and a metric", async () => {
  const [good, next] = [
    await authority.issue({ name: "good" }),
    await authority.issue({ name: "next" }),
  ];
  files.write(good);
  await untilUsed("good");
  const errors = lines("certificates not reloaded").length;
  files.write({ cert: next.cert.slice(0, 200) });
  await until(20_000, () => lines("certificates not reloaded").length === errors + 1);
  await sleep(2_500);
  expect(lines("certificates not reloaded")).toHaveLength(errors + 1);
  for (const port of ports()) expect(await certificateName(port, authority.cert)).toBe("good");
  expect(await getHttp1(fixture.service.http, authority.cert, fixture.key)).toBe(200);
  const metrics = await (await fetch(`${fixture.service.admin}/metrics`)).text();
  expect(metrics).toMatch(/^revenue_tls_reload_failures_total [1-9]/m);
  const expiry = /^revenue_tls_certificate_expiry_timestamp_seconds (\S+)/m.exec(metrics)?.[1];
  expect(Math.abs(Number(expiry) - Date.now() / 1000 - 86_400)).toBeLessThan(600);
  files.write(next);
  await untilUsed("next");
  const [line] = lines("certificates not reloaded").slice(-1);
  expect(line).toMatchObject({
    level: "error",
    problems: ["TLS_CERT_FILE holds no complete certificates in PEM"],
  });
});

it("a stop under TLS finishes calls in flight", async () => {
  const { http } = fixture.service;
  const calls = Array.from({ length: 20 }, () => getHttp1(http, authority.cert, fixture.key));
  await poll(5_000, () => (lines("call").length > 0 ? true : undefined));
  const statuses = Promise.all(calls);
  expect(await fixture.service.stop()).toBe(0);
  expect(await statuses).toEqual(Array(20).fill(200));
});
