/** TLS on the gRPC port, with and without client certificates. */
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { Client, credentials, status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import type { GrpcOptions } from "../../../src/grpc/server.ts";
import { until } from "../../support/poll.ts";
import { createAuthority, type Pair } from "../../support/tls/certificates.ts";
import { openPortTls } from "../tls/port.ts";
import { call, listen, OVERVIEW, openSocket, openStream, statusOf } from "./grpc-server.ts";

const [authority, clients, others] = await Promise.all([
  createAuthority(),
  createAuthority("clients"),
  createAuthority("others"),
]);
const [pair, client, stranger] = await Promise.all([
  authority.issue(),
  clients.issue({ name: "a client" }),
  others.issue(),
]);

/**
 * A server with TLS until the end of the test.
 *
 * @param ca the authority of client certificates; none are asked for without it
 */
async function listenTls(options: GrpcOptions = {}, ca?: string) {
  const { parts, ...port } = openPortTls("h2", pair, ca);
  return { ...(await listen({ ...options, ...parts })), ...port };
}

/** The gRPC status of a call by grpc-js; the first attempt to connect decides. */
async function grpcJs(port: number, own?: Pair): Promise<number> {
  const channel = new Client(
    `localhost:${port}`,
    credentials.createSsl(
      Buffer.from(authority.cert),
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

/** A connection with TLS until the end of the test. */
function openTls(port: number) {
  const options = { port, host: "localhost", ca: authority.cert, ALPNProtocols: ["h2"] };
  const socket = connectTls(options).on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.resume().once("close", resolve)) };
}

it("a change of the authority of client certificates applies to new connections", async () => {
  const { port, files, certificates } = await listenTls({}, clients.cert);
  files.write({ ca: others.cert });
  await until(5_000, () => certificates.current.contents.TLS_CLIENT_CA_FILE === others.cert);
  expect(await grpcJs(port, stranger)).toBe(status.OK);
  expect(await grpcJs(port, client)).toBe(status.UNAVAILABLE);
});

it("a connection is admitted before its handshake", async () => {
  const { port } = await listenTls({ admitConnection: (socket) => !socket.destroy() });
  await openSocket(port).closed;
});

it("the times of a connection hold over TLS: for its preface, and for a message", async () => {
  const { port, events } = await listenTls({ prefaceTimeout: 300, requestTimeout: 300 });
  const silent = openTls(port);
  const session = openSession(port);
  expect(await statusOf(openStream(session))).toMatch(/^4 /);
  expect(await call(session)).toBe("0 OK");
  await silent.closed;
  expect(events.toSorted()).toEqual(["prefaceTimeout", "requestTimeout"]);
});
