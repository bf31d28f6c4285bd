/** Limits of the gRPC port on connections, streams, and the sizes of messages. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { MAX_MESSAGE_BYTES } from "../../../src/errors.ts";
import { MAX_REFLECTIONS } from "../../../src/grpc/reflection.ts";
import { MAX_QUESTIONS, MAX_SURPLUS } from "../../../src/grpc/streams.ts";
import {
  frame,
  grpcMessage,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
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
  respondWith,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

it("a connection beyond the limit is closed, the line names who holds them, and one that ends makes room", async () => {
  const { port, server, reports } = await listen({ maxConnections: 2 });
  const [first, second] = [openSession(port), openSession(port)];
  for (const session of [first, second]) expect(await call(session)).toBe("0 OK");
  expect(server.open()).toEqual({ connections: 2, streams: 0 });
  await openSocket(port).closed;
  expect(JSON.parse(JSON.stringify(reports))).toEqual([
    ["tooManyGrpcConnections", { holders: { "127.0.0.1": 2 } }],
  ]);
  first.destroy();
  await until(() => server.open().connections === 1);
  expect(await call(openSession(port))).toBe("0 OK");
});

const CALL = Buffer.concat([headers(1, false), frame(0, 1, 1, EMPTY)]);
/** What a client sends before its connection ends. */
const SENT = [
  Buffer.alloc(0),
  Buffer.from("GET / HTTP/1.1\r\n\r\n"),
  BEGIN,
  Buffer.concat([BEGIN, headers(1, false)]),
  // A frame that ends the session, while the call is open.
  Buffer.concat([BEGIN, CALL, frame(0, 0, 0, EMPTY)]),
  Buffer.concat([BEGIN, CALL, frame(7, 0, 0, Buffer.alloc(8))]),
  // The answer is more than the kernel takes.
  Buffer.concat([PREFACE, NO_FLOW_CONTROL, CALL]),
];
/** How it ends. Who is silent is ended by keepalive. */
const ENDS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  "a reset": (socket) => socket.resetAndDestroy(),
  "an end": (socket) => socket.resume().end(),
  silence: (socket) => socket.pause(),
};

it.each(Object.entries(ENDS))("connections that end abruptly make room: %s", async (_, end) => {
  const limits = { maxConnections: SENT.length + 1, keepalive: 200, keepaliveReply: 200 };
  const { port, server } = await listen(limits, respondWith(8 * 2 ** 20));
  for (let round = 0; round < 2; round++) {
    for (const sent of SENT) {
      const { socket } = openSocket(port);
      await once(socket, "connect");
      socket.pause().write(sent, () => end(socket));
    }
    // When this one is answered, the others have been accepted.
    const { socket, frames } = openSocket(port);
    socket.write(BEGIN);
    await until(() => frames().length > 0);
    socket.destroy();
    await until(() => server.open().connections === 0);
  }
});

it("a connection is told how many calls it may have at once", async () => {
  const session = openSession((await listen({ maxStreamsPerConnection: 10 })).port);
  const [{ maxConcurrentStreams }] = await once(session, "remoteSettings");
  expect(maxConcurrentStreams).toBe(10);
});

it(`of ${MAX_REFLECTIONS} streams of reflection, one that ends makes room`, async () => {
  const { port } = await listen({ maxStreamsPerConnection: MAX_REFLECTIONS });
  const open = (session: ClientHttp2Session) => {
    const stream = openStream(session, REFLECTION);
    stream.write(QUESTION);
    return stream;
  };
  const session = openSession(port);
  const streams = Array.from({ length: MAX_REFLECTIONS }, () => open(session));
  await Promise.all(streams.map((stream) => once(stream, "data")));
  const another = openSession(port);
  expect(await statusOf(open(another))).toBe("8 too many reflection streams are open");
  expect(await call(another)).toBe("0 OK");
  streams[0]?.close(8);
  await until(() => {
    const stream = open(another);
    return Promise.race([
      once(stream, "data").then(() => true),
      statusOf(stream).then(() => false),
    ]);
  });
});

it("a stream with much more than its message is ended, and nothing of it is decompressed; its connection stays", async () => {
  const { port, reports, calls } = await listen();
  const session = openSession(port);
  const send = async (path: string, bytes: Buffer, headers = {}) => {
    const stream = openStream(session, path, headers);
    stream.end(bytes);
    return [await statusOf(stream), stream.rstCode];
  };
  // grpc-js would decompress all of them, and say that the last one cannot be.
  const bomb = grpcMessage(gzipSync(Buffer.alloc(MAX_MESSAGE_BYTES)), 1);
  const bombs = Buffer.concat([bomb, bomb, grpcMessage(Buffer.from("x"), 1)]);
  const two = /^12 Received a second request message/;
  expect(await send(OVERVIEW, bombs, { "grpc-encoding": "gzip" })).toEqual([
    expect.stringMatching(two),
    0,
  ]);
  // ENHANCE_YOUR_CALM, which clients read as RESOURCE_EXHAUSTED.
  const surplus = Buffer.concat([EMPTY, Buffer.alloc(MAX_SURPLUS + 1)]);
  for (const path of [OVERVIEW, WATCH]) expect(await send(path, surplus)).toEqual(["closed", 11]);
  const questions = Buffer.concat(Array<Buffer>(MAX_QUESTIONS).fill(QUESTION));
  expect(await send(REFLECTION, questions)).toEqual(["closed", 11]);
  expect(reports).toEqual(Array(3).fill(["tooManyMessages"]));
  expect(await call(session)).toBe("0 OK");
  // A large message, in many frames, is one.
  const [status] = await send(OVERVIEW, grpcMessage(Buffer.alloc(MAX_MESSAGE_BYTES - 1)));
  expect(status).toMatch(/^3 /);
  expect(calls).toHaveLength(2);
});
