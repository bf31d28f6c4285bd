/** Limits of the gRPC port on connections, streams, and the sizes of messages. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished, vi } from "vitest";
import { MAX_MESSAGE_BYTES } from "../../../src/errors.ts";
import { MAX_WATCHES } from "../../../src/grpc/health.ts";
import { GRPC_LIMITS } from "../../../src/grpc/limits.ts";
import { MAX_REFLECTIONS } from "../../../src/grpc/reflection.ts";
import {
  frame,
  grpcMessage,
  headers,
  PREFACE,
  reset,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import {
  BEGIN,
  call,
  EMPTY,
  listen,
  OVERVIEW,
  openSession,
  openSocket,
  openStream,
  QUESTION,
  REFLECTION,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

it("a connection that has not started in time is closed, however far it came, and a started one stays", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const acceptConnection = vi.fn(() => true);
  const { port, events } = await listen({ acceptConnection });
  const clients = [0, 1, PREFACE.length].map((bytes) => {
    const client = openSocket(port);
    client.socket.write(PREFACE.subarray(0, bytes));
    return client;
  });
  const started = openSession(port);
  expect(await call(started)).toBe("0 OK");
  await until(() => acceptConnection.mock.calls.length === 4);
  vi.advanceTimersByTime(GRPC_LIMITS.prefaceTimeout);
  await Promise.all(clients.map(({ closed }) => closed));
  expect(events).toEqual(Array(3).fill("prefaceTimeout"));
  expect(await call(started)).toBe("0 OK");
});

it("calls that are cancelled with their request are not run", async () => {
  const { port, calls } = await listen();
  const { socket } = openSocket(port);
  const call = (id: number) => [headers(id, false), frame(0, 1, id, EMPTY)];
  const cancelled = Array.from({ length: 50 }, (_, index) => 1 + 2 * index);
  const frames = cancelled.flatMap((id) => [...call(id), reset(id)]);
  socket.write(Buffer.concat([BEGIN, ...frames, ...call(101)]));
  // Calls start in their order.
  await until(() => calls.length > 0);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.signal.aborted).toBe(false);
});

it("a connection that is closed here is not kept if its client does not close it", async () => {
  const { port } = await listen({ responseTimeout: 100 });
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

it("a connection is told how many calls it may have at once", async () => {
  const session = openSession((await listen({ maxStreamsPerConnection: 10 })).port);
  const [{ maxConcurrentStreams }] = await once(session, "remoteSettings");
  expect(maxConcurrentStreams).toBe(10);
});

it.each([
  [MAX_REFLECTIONS, REFLECTION, QUESTION, "8 too many reflection streams are open"],
  [MAX_WATCHES, WATCH, EMPTY, `12 there are ${MAX_WATCHES} watches already`],
])("of %i streams of %s, one that ends makes room", async (most, path, message, refusal) => {
  const { port, events } = await listen();
  const open = (session: ClientHttp2Session) => {
    const stream = openStream(session, path);
    stream.write(message);
    if (path === WATCH) stream.end();
    return stream;
  };
  const streams = Array.from({ length: most / 50 }, () => openSession(port)).flatMap((session) =>
    Array.from({ length: 50 }, () => open(session)),
  );
  await Promise.all(streams.map((stream) => once(stream, "data")));
  const session = openSession(port);
  expect(await statusOf(open(session))).toBe(refusal);
  expect(events).toEqual(path === REFLECTION ? ["reflectionLimit"] : []);
  expect(await call(session)).toBe("0 OK");
  streams[0]?.close(8);
  await until(() => {
    const stream = open(session);
    return Promise.race([
      once(stream, "data").then(() => true),
      statusOf(stream).then(() => false),
    ]);
  });
});

it("a request with more than its message is not decompressed, and ends with a status, and its connection stays", async () => {
  const { port, events, calls } = await listen();
  const session = openSession(port);
  const send = (path: string, bytes: Buffer, headers = {}) => {
    const stream = openStream(session, path, headers);
    stream.end(bytes);
    return statusOf(stream);
  };
  // grpc-js would decompress all of them, and say that the last one cannot be.
  const bomb = grpcMessage(gzipSync(Buffer.alloc(MAX_MESSAGE_BYTES)), 1);
  const bombs = Buffer.concat([bomb, bomb, grpcMessage(Buffer.from("x"), 1)]);
  const two = /^12 Received a second request message/;
  expect(await send(OVERVIEW, bombs, { "grpc-encoding": "gzip" })).toMatch(two);
  const surplus = Buffer.concat([EMPTY, Buffer.alloc(2_000)]);
  for (const path of [OVERVIEW, WATCH]) expect(await send(path, surplus)).toMatch(/^8 /);
  expect(events).toEqual(["tooManyMessages", "tooManyMessages"]);
  expect(await call(session)).toBe("0 OK");
  // A large message, in many frames, is one.
  expect(await send(OVERVIEW, grpcMessage(Buffer.alloc(MAX_MESSAGE_BYTES - 1)))).toMatch(/^3 /);
  expect(calls).toHaveLength(2);
});
