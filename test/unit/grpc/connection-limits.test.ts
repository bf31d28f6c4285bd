/** Limits of the gRPC port on connections, streams, and the sizes of messages. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { expect, it, onTestFinished } from "vitest";
import { MAX_REFLECTIONS } from "../../../src/grpc/reflection.ts";
import { MAX_MESSAGE_BYTES } from "../../../src/rpc/call.ts";
import {
  frame,
  headers,
  PREFACE,
  reset,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { frame as grpcMessage } from "../../support/clients/raw-clients.ts";
import { until } from "../../support/poll.ts";
import {
  call,
  EMPTY,
  emptyResponse,
  listen,
  OVERVIEW,
  openSession,
  openSocket,
  openStream,
  reconnect,
  roundTrip,
  statusOf,
} from "./grpc-server.ts";

/** In ms; the tests wait for it. */
const TIMEOUT = 300;
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** A request for the list of services. */
const QUESTION = grpcMessage(
  new BinaryWriter().tag(7, WireType.LengthDelimited).string("").finish(),
);
const START = [PREFACE, SETTINGS, SETTINGS_ACK];

/** Opens a stream and sends a message. Resolves at its first response, or to its status. */
function outcome(session: ClientHttp2Session, path: string, message: Uint8Array): Promise<string> {
  const stream = openStream(session, path);
  stream.write(message);
  const data = new Promise<string>((resolve) => stream.once("data", () => resolve("open")));
  return Promise.race([data, statusOf(stream)]);
}

/** The status of a call whose request is these bytes, of messages in gzip. */
function callWith(session: ClientHttp2Session, bytes: Uint8Array): Promise<string> {
  const stream = openStream(session, OVERVIEW, { "grpc-encoding": "gzip" });
  stream.end(bytes);
  return statusOf(stream);
}

it("a connection that is not admitted gets no byte", async () => {
  const { port } = await listen({
    admitConnection(socket) {
      socket.resetAndDestroy();
      return false;
    },
  });
  const { socket, received, closed } = openSocket(port);
  socket.write(Buffer.concat([PREFACE, SETTINGS]));
  await closed;
  expect(received()).toHaveLength(0);
});

it("a connection that has not started in time is closed, however it sends, and a started one stays", async () => {
  const { port, events } = await listen({ prefaceTimeout: TIMEOUT });
  const started = openSession(port);
  const [silent, slow, withoutSettings] = [openSocket(port), openSocket(port), openSocket(port)];
  const preface = PREFACE.values();
  const writes = setInterval(() => {
    const { value } = preface.next();
    if (value !== undefined) slow.socket.write(Buffer.of(value));
  }, 20);
  onTestFinished(() => clearInterval(writes));
  withoutSettings.socket.write(PREFACE);
  await Promise.all([silent.closed, slow.closed, withoutSettings.closed]);
  expect(events).toEqual(Array(3).fill("prefaceTimeout"));
  expect(await call(started)).toBe("0 OK");
});

/** Calls that are cancelled with their request. Their streams are 1, 3, 5 and so on. */
const cancelled = (count: number) =>
  Array.from({ length: count }, (_, index) => 1 + 2 * index).flatMap((id) => [
    headers(id, false),
    frame(0, 1, id, EMPTY),
    reset(id),
  ]);

it("calls that are cancelled with their request are not run", async () => {
  const { port, calls } = await listen();
  const { socket } = openSocket(port);
  const good = [headers(101, false), frame(0, 1, 101, EMPTY)];
  socket.write(Buffer.concat([...START, ...cancelled(50), ...good]));
  // Calls start in their order.
  await until(10_000, () => calls.length > 0);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.signal.aborted).toBe(false);
});

it("a connection that cancels 2,000 calls at once is closed, and the client may open another", async () => {
  const { port } = await listen();
  const { socket, closed } = openSocket(port);
  socket.write(Buffer.concat([...START, ...cancelled(2_000)]));
  await closed;
  expect(await call(openSession(port))).toBe("0 OK");
});

it("limits hold for a client that connects again from the same port before its end is seen", async () => {
  let connections = 0;
  const { port, events } = await listen({
    requestTimeout: TIMEOUT,
    admitConnection: () => ++connections > 0,
  });
  const { socket } = openSocket(port);
  await until(10_000, () => connections === 1);
  reconnect(port, socket, Buffer.concat([...START, headers(1, false)]));
  await until(10_000, () => events.includes("requestTimeout"));
});

it("a connection that is closed here is not kept if its client does not close it", async () => {
  const { port } = await listen({ responseTimeout: TIMEOUT });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  // GOAWAY: Node ends the session, and waits for the client.
  socket.write(Buffer.concat([PREFACE, SETTINGS, frame(7, 0, 0, Buffer.alloc(8))]));
  await once(socket.resume(), "end");
  const write = setInterval(() => socket.write(SETTINGS_ACK), 20);
  onTestFinished(() => clearInterval(write));
  // What it sends then is answered by a reset.
  await expect(once(socket, "close")).rejects.toThrow(/ECONNRESET|EPIPE/);
});

it("a connection has as many calls at once as it may, and the others wait at the client", async () => {
  const release = Promise.withResolvers<void>();
  const { port, calls } = await listen({ maxStreamsPerConnection: 10 }, async () => {
    await release.promise;
    return emptyResponse;
  });
  const session = openSession(port);
  await once(session, "remoteSettings");
  const statuses = Array.from({ length: 30 }, () => call(session));
  await until(10_000, () => calls.length >= 10);
  for (let turns = 0; turns < 3; turns++) await roundTrip(session);
  expect(calls).toHaveLength(10);
  release.resolve();
  expect(await Promise.all(statuses)).toEqual(Array(30).fill("0 OK"));
});

it("too many streams of all connections close the connection with the most of them", async () => {
  const { port, events } = await listen({ maxStreams: 10 });
  const [many, few] = [openSession(port), openSession(port)];
  const lost = Array.from({ length: 8 }, () => statusOf(openStream(many)));
  await roundTrip(many);
  for (let count = 0; count < 3; count++) openStream(few);
  expect(await Promise.all(lost)).toEqual(Array(8).fill("closed"));
  expect(many.destroyed).toBe(true);
  expect(await call(few)).toBe("0 OK");
  expect(events).toEqual(["tooManyStreams"]);
});

it("there may be 50 reflection streams, and one that ends makes room", async () => {
  const { port, events } = await listen();
  const session = openSession(port);
  const streams = Array.from({ length: MAX_REFLECTIONS }, () => openStream(session, REFLECTION));
  for (const stream of streams) stream.write(QUESTION);
  await Promise.all(streams.map((stream) => once(stream, "data")));
  expect(await outcome(session, REFLECTION, QUESTION)).toBe(
    "8 too many reflection streams are open",
  );
  expect(events).toEqual(["reflectionLimit"]);
  streams[0]?.end();
  await until(10_000, async () => (await outcome(session, REFLECTION, QUESTION)) === "open");
});

it("reflection can be turned off", async () => {
  const { port } = await listen({ reflection: "off" });
  expect(await outcome(openSession(port), REFLECTION, QUESTION)).toMatch(/^12 /);
});

/** The largest message, with a field that the server ignores. */
const LARGEST = Buffer.alloc(MAX_MESSAGE_BYTES);
// Tag and length of the field: two bytes and three.
const LENGTH = MAX_MESSAGE_BYTES - 5;
LARGEST.set([0xfa, 0x7f, (LENGTH & 0x7f) | 0x80, ((LENGTH >> 7) & 0x7f) | 0x80, LENGTH >> 14]);

it("the largest message is served, compressed or not", async () => {
  const session = openSession((await listen()).port);
  expect(await callWith(session, grpcMessage(LARGEST))).toBe("0 OK");
  expect(await callWith(session, grpcMessage(gzipSync(LARGEST), 1))).toBe("0 OK");
});

it("messages that a unary call sends in excess are not decompressed", async () => {
  const session = openSession((await listen()).port);
  // grpc-js would decompress all of them, and say that the last one cannot be.
  const bomb = grpcMessage(gzipSync(LARGEST), 1);
  const bytes = Buffer.concat([bomb, bomb, grpcMessage(Buffer.from("x"), 1)]);
  expect(await callWith(session, bytes)).toMatch(/^12 Received a second request message/);
});
