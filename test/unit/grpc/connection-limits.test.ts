/** Limits of the gRPC port on connections, streams, and the sizes of messages. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import type { Message } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { MAX_MESSAGE_BYTES } from "../../../src/errors.ts";
import { MAX_WATCHES } from "../../../src/grpc/health.ts";
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
import { poll, until } from "../../support/poll.ts";
import {
  BEGIN,
  call,
  EMPTY,
  emptyResponse,
  listen,
  OVERVIEW,
  openSession,
  openSocket,
  openStream,
  QUESTION,
  REFLECTION,
  roundTrip,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

/** In ms; the tests wait for it. */
const TIMEOUT = 300;

it("a connection that has not started in time is closed, however it sends, and a started one stays", async () => {
  const { port, events } = await listen({ prefaceTimeout: 2_000 });
  // A busy machine may take that long, too.
  const started = await poll(async () => {
    const session = openSession(port);
    return (await call(session)) === "0 OK" ? session : undefined;
  });
  events.length = 0;
  const [silent, slow, withoutSettings] = [openSocket(port), openSocket(port), openSocket(port)];
  const preface = PREFACE.values();
  const writes = setInterval(() => {
    const { value } = preface.next();
    if (value !== undefined) slow.socket.write(Buffer.of(value));
  }, 100);
  onTestFinished(() => clearInterval(writes));
  withoutSettings.socket.write(PREFACE);
  await Promise.all([silent.closed, slow.closed, withoutSettings.closed]);
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
  const response = Promise.withResolvers<Message>();
  const { port, calls } = await listen({ maxStreamsPerConnection: 10 }, () => response.promise);
  const session = openSession(port);
  await once(session, "remoteSettings");
  const statuses = Array.from({ length: 30 }, () => call(session));
  await until(() => calls.length >= 10);
  for (let turns = 0; turns < 3; turns++) await roundTrip(session);
  expect(calls).toHaveLength(10);
  response.resolve(emptyResponse);
  expect(await Promise.all(statuses)).toEqual(Array(30).fill("0 OK"));
});

it("a client that does not speak HTTP/2 is closed, and one whose preface comes in pieces is served", async () => {
  const { port, events } = await listen();
  for (const begin of [
    "GET / HTTP/1.1\r\n\r\n",
    "\x16\x03\x01",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r!",
  ]) {
    const { socket, closed } = openSocket(port);
    socket.write(begin, "latin1");
    await closed;
  }
  expect(events).toEqual([]);
  const { socket } = openSocket(port);
  const answer = once(socket, "data");
  for (const byte of PREFACE) {
    socket.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  socket.write(SETTINGS);
  expect((await answer)[0][3]).toBe(4); // the type of SETTINGS
});

it("two connections from one client port, to two addresses, both have their limits", async () => {
  const { port } = await listen({ requestTimeout: 300 }, undefined, "0.0.0.0");
  const own = { port, localAddress: "127.0.0.1", localPort: await freePort() };
  const sockets = ["127.0.0.1", "127.0.0.2"].map((host) => connect({ ...own, host }));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const [first, second] = sockets.map((socket) => openSession(port, {}, () => socket));
  for (const session of [second, first]) {
    const incomplete = openStream(session as ClientHttp2Session);
    expect(await statusOf(incomplete)).toMatch(/^4 /);
    await new Promise<void>((resolve) => session?.close(resolve));
  }
});

it.each([
  [MAX_REFLECTIONS, REFLECTION, QUESTION, "8 too many reflection streams are open"],
  [MAX_WATCHES, WATCH, EMPTY, `12 there are ${MAX_WATCHES} watches already`],
])(
  "there may be %i streams of %s, and one that ends makes room",
  async (most, path, message, refusal) => {
    const { port, events } = await listen();
    const open = (session: ClientHttp2Session) => {
      const stream = openStream(session, path);
      stream.write(message);
      if (path === WATCH) stream.end();
      return stream;
    };
    const fifty = () => {
      const session = openSession(port);
      return Array.from({ length: 50 }, () => open(session));
    };
    const streams = Array.from({ length: most / 50 }, fifty).flat();
    await Promise.all(streams.map((stream) => once(stream, "data")));
    const session = openSession(port);
    expect(await statusOf(open(session))).toBe(refusal);
    expect(events).toEqual(path === REFLECTION ? ["reflectionLimit"] : []);
    expect(await call(session)).toBe("0 OK");
    streams[0]?.close(8);
    await until(async () => {
      const stream = open(session);
      return Promise.race([
        once(stream, "data").then(() => true),
        statusOf(stream).then(() => false),
      ]);
    });
  },
);

it("reflection can be turned off", async () => {
  const { port } = await listen({ reflection: "off" });
  expect(await call(openSession(port), REFLECTION)).toMatch(/^12 /);
});

it("messages that a unary call sends in excess are not decompressed", async () => {
  const session = openSession((await listen()).port);
  const stream = openStream(session, OVERVIEW, { "grpc-encoding": "gzip" });
  // grpc-js would decompress all of them, and say that the last one cannot be.
  const bomb = grpcMessage(gzipSync(Buffer.alloc(MAX_MESSAGE_BYTES)), 1);
  stream.end(Buffer.concat([bomb, bomb, grpcMessage(Buffer.from("x"), 1)]));
  expect(await statusOf(stream)).toMatch(/^12 Received a second request message/);
});

it("a request with much more than its message ends with a status, and its connection stays", async () => {
  const { port, events, calls } = await listen();
  const session = openSession(port);
  const send = (path: string, bytes: Buffer) => {
    const stream = openStream(session, path);
    stream.end(bytes);
    return statusOf(stream);
  };
  const surplus = Buffer.concat([EMPTY, Buffer.alloc(2_000)]);
  for (const path of [OVERVIEW, WATCH]) expect(await send(path, surplus)).toMatch(/^8 /);
  expect(events).toEqual(["tooManyMessages", "tooManyMessages"]);
  // grpc-js says what is wrong
  expect(await send(OVERVIEW, Buffer.concat([EMPTY, EMPTY, EMPTY]))).toMatch(/^(12|13) /);
  expect(await call(session)).toBe("0 OK");
  // A large message, in many frames, is one.
  expect(await send(OVERVIEW, grpcMessage(Buffer.alloc(MAX_MESSAGE_BYTES - 1)))).toMatch(/^3 /);
  expect(calls).toHaveLength(2);
});
