/** TLS on the gRPC port, with and without client certificates. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { Client, credentials, status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { readCertificates } from "../../../src/config/certificates.ts";
import type { GrpcOptions } from "../../../src/grpc/server.ts";
import { watchCertificates } from "../../../src/tls/certificate-watch.ts";
import { createPortTls } from "../../../src/tls/port-tls.ts";
import { until } from "../../support/poll.ts";
import { createAuthority, createFiles, type Pair } from "../../support/tls/certificates.ts";
import { call, listen, OVERVIEW, openStream, reconnect, statusOf } from "./grpc-server.ts";

const [authority, clients, others] = await Promise.all([
  createAuthority(),
  createAuthority("clients"),
  createAuthority("others"),
]);
const [pair, client, stranger, expired] = await Promise.all([
  authority.issue(),
  clients.issue({ name: "a client" }),
  others.issue(),
  clients.issue({ days: [-3, -2] }),
]);

interface Options extends GrpcOptions {
  /** The authority of client certificates; none are asked for without it. */
  readonly ca?: string;
  readonly handshakeTimeout?: number;
}

/** A server with TLS until the end of the test. */
async function listenTls(
  { ca, handshakeTimeout = 10_000, ...options }: Options = {},
  respond?: Parameters<typeof listen>[1],
) {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const files = createFiles(pair, ca);
  onTestFinished(() => files[Symbol.dispose]());
  const certificates = watchCertificates({
    files: files.files,
    certificates: readCertificates(files.files),
    log: { info() {}, error() {} },
    interval: 10,
  });
  onTestFinished(() => certificates.stop());
  const tls = createPortTls({
    ...{ certificates, protocol: "h2", clientCertificates: true, handshakeTimeout, report },
  });
  const server = await listen({ ...options, tls, report }, respond);
  return { ...server, events, files, certificates };
}

/** The gRPC status of a call by grpc-js; the first attempt to connect decides. */
async function grpcJs(port: number, own?: Pair, root = authority.cert): Promise<number> {
  const channel = new Client(
    `localhost:${port}`,
    credentials.createSsl(
      Buffer.from(root),
      own ? Buffer.from(own.key) : null,
      own ? Buffer.from(own.cert) : null,
    ),
    { "grpc.use_local_subchannel_pool": 1 },
  );
  onTestFinished(() => channel.close());
  const { promise, resolve } = Promise.withResolvers<number>();
  const pass = (bytes: Buffer) => bytes;
  channel.makeUnaryRequest(OVERVIEW, pass, pass, Buffer.alloc(0), (error) =>
    resolve(error?.code ?? status.OK),
  );
  return promise;
}

/** An HTTP/2 session over TLS until the end of the test. */
function openSession(port: number) {
  const session = connectHttp2(`https://localhost:${port}`, { ca: authority.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

it("grpc-js calls over TLS", async () => {
  const { port, calls } = await listenTls();
  expect(await grpcJs(port)).toBe(status.OK);
  expect(await grpcJs(port, undefined, others.cert)).toBe(status.UNAVAILABLE);
  expect(calls).toHaveLength(1);
});

it.each<[string, Pair | undefined, number, string[]]>([
  ["is from the authority", client, status.OK, []],
  ["is missing", undefined, status.UNAVAILABLE, ["tlsHandshakeFailed"]],
  ["is from another authority", stranger, status.UNAVAILABLE, ["tlsHandshakeFailed"]],
  ["has expired", expired, status.UNAVAILABLE, ["tlsHandshakeFailed"]],
])("with TLS_CLIENT_CA_FILE, if the client's certificate %s", async (_, own, code, seen) => {
  const { port, events, calls } = await listenTls({ ca: clients.cert });
  expect(await grpcJs(port, own)).toBe(code);
  expect([...new Set(events)]).toEqual(seen);
  expect(calls).toHaveLength(code === status.OK ? 1 : 0);
});

it("a change of the authority of client certificates applies to new connections", async () => {
  const { port, files, certificates } = await listenTls({ ca: clients.cert });
  expect(await grpcJs(port, stranger)).toBe(status.UNAVAILABLE);
  files.write({ ca: others.cert });
  await until(5_000, () => certificates.current.contents.TLS_CLIENT_CA_FILE === others.cert);
  expect(await grpcJs(port, stranger)).toBe(status.OK);
  expect(await grpcJs(port, client)).toBe(status.UNAVAILABLE);
});

it("a new certificate applies to new connections, and open ones stay", async () => {
  const { port, files } = await listenTls();
  const session = openSession(port);
  expect(await call(session)).toBe("0 OK");
  const next = await authority.issue({ name: "next" });
  files.write(next);
  const subject = async () => {
    const socket = connectTls({
      port,
      host: "localhost",
      ca: authority.cert,
      ALPNProtocols: ["h2"],
    });
    await once(socket, "secureConnect");
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };
  await until(5_000, async () => (await subject()) === "next");
  expect(await call(session)).toBe("0 OK");
});

it("a client that asks for another protocol than HTTP/2 is disconnected", async () => {
  const { port } = await listenTls();
  for (const protocols of [["http/1.1"]]) {
    const socket = connectTls({
      port,
      host: "localhost",
      ca: authority.cert,
      ALPNProtocols: protocols,
    });
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("close", resolve));
  }
});

it("a connection is admitted before its handshake", async () => {
  const { port } = await listenTls({ admitConnection: (socket) => !socket.destroy() });
  const socket = connect(port, "localhost");
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("close", resolve));
});

it("a handshake has its time also if the client connects again from the same port", async () => {
  const { port, server, events } = await listenTls({ handshakeTimeout: 300 });
  await reconnect(port, Buffer.alloc(0));
  await until(5_000, () => events.includes("tlsHandshakeTimeout"));
  await server.stop(60_000);
});

it("the limits of a connection hold over TLS: preface, message, streams", async () => {
  const limits = { prefaceTimeout: 300, requestTimeout: 300, maxStreamsPerConnection: 10 };
  const { port, events } = await listenTls(limits);
  const silent = connectTls({ port, host: "localhost", ca: authority.cert, ALPNProtocols: ["h2"] });
  silent.on("error", () => {}).resume();
  const closed = new Promise((resolve) => silent.once("close", resolve));
  const session = openSession(port);
  await once(session, "remoteSettings");
  const late = statusOf(openStream(session));
  const codes = await Promise.all(Array.from({ length: 200 }, () => call(session)));
  expect(codes).toEqual(Array(200).fill("0 OK"));
  expect(await late).toMatch(/^4 /);
  await closed;
  expect(events.toSorted()).toEqual(["prefaceTimeout", "requestTimeout"]);
});
