/** TLS on the HTTP port: the limits of connections hold with it. */
import { once } from "node:events";
import type { Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished } from "vitest";
import { GetOverviewResponseSchema } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { createUnreadLimit } from "../../../../src/net/unread.ts";
import { until } from "../../../support/poll.ts";
import { listenTls, openTls } from "./gateway-tls.ts";

const REST = "/api/provider/revenue";
const REQUEST = `GET ${REST} HTTP/1.1\r\nHost: a\r\nX-API-Key: k\r\n`;

/** A TCP connection until the end of the test. */
function openTcp(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once("close", resolve)) };
}

const connectionsOf = (server: Server) => promisify(server.getConnections).call(server);
const noConnections = (server: Server) =>
  until(10_000, async () => (await connectionsOf(server)) === 0);

it.each([
  ["HTTP/1.1 is served to those who also speak HTTP/2", ["h2", "http/1.1"], "http/1.1"],
  ["and to those who do not negotiate", [], false],
])("%s", async (_, protocols, expected) => {
  const { port } = await listenTls();
  const socket = await openTls(port, protocols);
  expect(socket.alpnProtocol).toBe(expected);
  expect(["TLSv1.2", "TLSv1.3"]).toContain(socket.getProtocol());
});

it("pipelining is declined over TLS, too", async () => {
  const { port } = await listenTls();
  const socket = await openTls(port);
  socket.write(`${REQUEST}\r\n`.repeat(2));
  expect((await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(["200"]);
});

/**
 * Sends requests one after the other, from a thread of its own. `sent` counts those that have left,
 * the message how many were answered when the connection closed.
 */
const QUICK_CLIENT = `
  const { parentPort, workerData: { port, request, count, sent } } = require("node:worker_threads");
  const options = { port, host: "127.0.0.1", rejectUnauthorized: false };
  const socket = require("node:tls").connect(options, send);
  let answers = 0;
  function send() {
    socket.write(request, () => {
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    });
  }
  socket.on("data", () => (++answers === count ? socket.destroy() : send()));
  socket.on("error", () => {});
  socket.on("close", () => parentPort.postMessage(answers));
`;

it("a client may send the next request before Node tells that the response was sent", async () => {
  const count = 5;
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const { port, calls } = await listenTls({}, async () => {
    // The response is written in one turn of the event loop, which ends after the next request.
    await new Promise(setImmediate);
    const next = calls.length;
    setImmediate(() => next < count && Atomics.wait(sent, 0, next, 5_000));
    await new Promise(setImmediate);
    return create(GetOverviewResponseSchema);
  });
  const workerData = { port, request: `${REQUEST}\r\n`, count, sent };
  const worker = new Worker(QUICK_CLIENT, { eval: true, workerData });
  expect(await once(worker, "message")).toEqual([count]);
});

it("a connection is counted before its handshake", async () => {
  const { port } = await listenTls({ acceptConnection: (socket) => !socket.destroy() });
  await openTcp(port).closed;
});

it("a handshake that is not complete in time closes the connection", async () => {
  const { port, events } = await listenTls({ handshakeTimeout: 200 });
  const { socket, closed } = openTcp(port);
  // A record of TLS that is never complete.
  const timer = setInterval(() => socket.write(Buffer.from([0x16])), 20);
  onTestFinished(() => clearInterval(timer));
  await closed;
  expect(events).toEqual([expect.stringMatching(/^tlsHandshake(Timeout|Failed)$/)]);
});

it("a client that does not speak TLS is refused, and counted", async () => {
  const { port, events, lines } = await listenTls();
  const { socket, closed } = openTcp(port);
  socket.write(`${REQUEST}\r\n`);
  await closed;
  expect(events).toEqual(["tlsHandshakeFailed"]);
  expect(lines).toEqual([]);
});

it("a stop does not wait for handshakes", async () => {
  const { port, stop, events } = await listenTls();
  const { socket, closed } = openTcp(port);
  await once(socket, "connect");
  await stop(30_000);
  await closed;
  expect(events).toEqual([]);
});

describe("a client that leaves is noticed:", () => {
  it("during the handshake", async () => {
    const { port, server } = await listenTls();
    const { socket } = openTcp(port);
    await once(socket, "connect");
    await until(10_000, async () => (await connectionsOf(server)) === 1);
    socket.destroy();
    await noConnections(server);
  });

  it("during a call, which is cancelled", async () => {
    const { promise: never } = Promise.withResolvers<never>();
    const { port, calls, server } = await listenTls({}, () => never);
    const socket = await openTls(port);
    socket.write(`${REQUEST}\r\n`);
    await until(10_000, () => calls.length === 1);
    socket.destroy();
    await until(10_000, () => calls[0]?.signal.aborted === true);
    await noConnections(server);
  });
});

it("a client that does not read its responses is disconnected", async () => {
  const large = create(GetOverviewResponseSchema, {
    serverRevenue: Array.from({ length: 60_000 }, () => ({ serverName: "x".repeat(100) })),
  });
  const closed: string[] = [];
  const report = (event: string) => void closed.push(event);
  const unread = createUnreadLimit({ maxUnreadBytes: 1_000_000, report });
  onTestFinished(() => unread.stop());
  const { port, calls, server } = await listenTls({ unread }, () => large);
  const socket = await openTls(port);
  socket.pause();
  socket.write(`${REQUEST}\r\n`);
  await until(10_000, () => calls.length === 1);
  await until(10_000, () => closed.length === 1);
  await noConnections(server);
});
