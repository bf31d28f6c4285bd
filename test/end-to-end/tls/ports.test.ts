/** TLS on both ports of a running service: who may connect, and certificates that change. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { callGrpc } from "../../support/clients/grpc-client.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";
import {
  type CertificateFiles,
  createAuthority,
  createFiles,
  type Pair,
} from "../../support/tls/certificates.ts";

const [authority, clients] = await Promise.all([createAuthority(), createAuthority("clients")]);
const [pair, client, stranger] = await Promise.all([
  authority.issue({ name: "first" }),
  clients.issue(),
  authority.issue(),
]);
const { cert: ca } = authority;

let files: CertificateFiles;
let fixture: Fixture;
beforeAll(async () => {
  files = createFiles(pair, clients.cert);
  fixture = await createFixture(smallLedger, files.files);
});
afterAll(async () => {
  await fixture?.dispose();
  files?.[Symbol.dispose]();
});

/** The status of a REST call on a new connection, or on that of the agent. */
async function getStatus(agent = new Agent()): Promise<number> {
  const headers = Object.fromEntries(withKey(fixture.key));
  const url = new URL(paths.GetOverview, fixture.service.http);
  const [response] = await once(request(url, { ca, agent, headers }).end(), "response");
  await text(response);
  return response.statusCode;
}

/** A gRPC client with a connection of its own: a call resolves to "OK" or the code. */
function grpcClient(own?: Pair) {
  // grpc-js accepts no address as the name of a server.
  const address = fixture.service.grpc.replace("127.0.0.1", "localhost");
  const [root, key, cert] = [ca, own?.key, own?.cert].map((pem) => (pem ? Buffer.from(pem) : null));
  const options = { "grpc.use_local_subchannel_pool": 1 };
  const channel = new Client(address, credentials.createSsl(root, key, cert), options);
  onTestFinished(() => channel.close());
  return async (key = fixture.key) => {
    const options = { method: "GetOverview", headers: withKey(key), timeout: TIME_LIMIT } as const;
    const outcome = await callGrpc(channel, options);
    return "response" in outcome ? "OK" : outcome.code;
  };
}

/** What each port negotiates with a client that speaks both protocols, and the name in its certificate. */
function handshakes() {
  const ports = [fixture.service.http, `https://${fixture.service.grpc}`];
  return Promise.all(
    ports.map(async (url) => {
      const where = { port: Number(new URL(url).port), host: "127.0.0.1" };
      const ALPNProtocols = ["h2", "http/1.1"];
      const socket = connectTls({ ...where, ...client, ca, ALPNProtocols }).on("error", () => {});
      await once(socket, "secureConnect");
      const name = socket.getPeerCertificate().subject.CN;
      socket.destroy();
      return `${socket.alpnProtocol} ${name}`;
    }),
  );
}

it("the HTTP port speaks HTTP/1.1, the gRPC port HTTP/2, with clients that have a certificate and a key", async () => {
  expect(await handshakes()).toEqual(["http/1.1 first", "h2 first"]);
  expect(await grpcClient(client)()).toBe("OK");
  expect(await grpcClient(client)("no key")).toBe("UNAUTHENTICATED");
  for (const own of [undefined, stranger]) expect(await grpcClient(own)()).toBe("UNAVAILABLE");
});

it("certificates that are replaced lose no call, and the new authority decides on new connections", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const outcomes = new Set<string | number>();
  let replaced = false;
  const loop = async (call: () => Promise<string | number>) => {
    do {
      outcomes.add(await call().catch(String));
      await sleep(20);
    } while (!replaced);
  };
  const loops = [getStatus, () => getStatus(agent), grpcClient(client)].map(loop);
  const second = await authority.issue({ name: "second" });
  files.write({ ...second, ca });
  await until(async () => (await handshakes()).every((text) => text.endsWith("second")));
  replaced = true;
  await Promise.all(loops);
  expect([...outcomes].sort()).toEqual([200, "OK"]);
  expect(await grpcClient(stranger)()).toBe("OK");
  expect(await grpcClient(client)()).toBe("UNAVAILABLE");
  await until(() => fixture.service.log().some(({ msg }) => msg === "certificates reloaded"));
  const metrics = parseExposition(await (await fetch(`${fixture.service.admin}/metrics`)).text());
  const expiry = sumOf(metrics, "revenue_tls_certificate_expiry_timestamp_seconds");
  expect(1_000 * expiry).toBe(new X509Certificate(second.cert).validToDate.getTime());
});
