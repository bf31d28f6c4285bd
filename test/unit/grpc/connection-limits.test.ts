/** Limits of the gRPC port on connections, streams, and the sizes of messages. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it, onTestFinished } from "vitest";
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
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** A request for the list of services. */
const QUESTION = grpcMessage(
  new BinaryWriter().tag(7, WireType.LengthDelimited).string("").finish(),
);

/** Opens a stream and sends a message. Resolves at its first response, or to its status. */
function outcome(session: ClientHttp2Session, path: string, message: Uint8Array): Promise<string> {
  const stream = openStream(session, path);
  stream.write(message);
  const data = new Promise<string>((resolve) => stream.once("data", () => resolve("open")));
  return Promise.race([data, statusOf(stream)]);
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

describe("the connection is closed after the preface timeout if it", () => {
  it.each([
    ["sends nothing", []],
    ["sends the preface byte by byte", [...PREFACE].map((byte) => Buffer.of(byte))],
    ["sends no SETTINGS", [PREFACE]],
  ])("%s", async (_, writes) => {
    const { port, events } = await listen({ prefaceTimeout: TIMEOUT });
    const { socket, closed } = openSocket(port);
    const writing = (async () => {
      for (const bytes of writes) {
        if (socket.destroyed) return;
        socket.write(bytes);
        await sleep(50);
      }
    })();
    expect(await closed).toBeGreaterThan(TIMEOUT - 50);
    expect(events).toEqual(["prefaceTimeout"]);
    await writing;
  });
});

it.each([
  ["HTTP/1.1", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"],
  ["a TLS greeting", `\u0016\u0003\u0001\u0002\u0000\u0001${"a".repeat(30)}`],
])("%s instead of HTTP/2 closes the connection", async (_, greeting) => {
  const { port } = await listen();
  const { socket, closed } = openSocket(port);
  socket.write(Buffer.from(greeting, "latin1"));
  await closed;
});

it("a connection whose start is complete stays open without a call", async () => {
  const { port } = await listen({ prefaceTimeout: TIMEOUT });
  const session = openSession(port);
  await sleep(2 * TIMEOUT);
  expect(await call(session)).toBe("0 OK");
});

it("a connection that cancels 2,000 calls at once is closed, and the client may open another", async () => {
  const { port } = await listen();
  const { socket, closed } = openSocket(port);
  const streams = Array.from({ length: 2_000 }, (_, index) => 1 + 2 * index);
  const frames = streams.flatMap((id) => [headers(id, false), frame(0, 1, id, EMPTY), reset(id)]);
  socket.write(Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK, ...frames]));
  await closed;
  expect(await call(openSession(port))).toBe("0 OK");
});

it("messages that a unary call sends in excess are not decompressed", async () => {
  const { port } = await listen();
  const stream = openSession(port).request({
    ...{ ":method": "POST", ":path": OVERVIEW, "content-type": "application/grpc", te: "trailers" },
    "grpc-encoding": "gzip",
  });
  // grpc-js would decompress all of them, and say that the last one cannot be.
  const bomb = grpcMessage(gzipSync(LARGEST), 1);
  stream.on("error", () => {}).end(Buffer.concat([bomb, bomb, grpcMessage(Buffer.from("x"), 1)]));
  expect(await statusOf(stream)).toMatch(/^12 Received a second request message/);
});

it("limits hold for a client that connects again from the same port while the server is busy", async () => {
  const { port, events } = await listen({ requestTimeout: TIMEOUT });
  await reconnect(port, Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK, headers(1, false)]));
  await until(10_000, () => events.includes("requestTimeout"));
});

it("a connection that is closed here is not kept if its client does not close it", async () => {
  const { port } = await listen({ responseTimeout: TIMEOUT });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => {
    socket.destroy();
  });
  // GOAWAY: Node ends the session, and waits for the client.
  socket.write(Buffer.concat([PREFACE, SETTINGS, frame(7, 0, 0, Buffer.alloc(8))]));
  await once(socket.resume(), "end");
  const write = setInterval(() => socket.write(SETTINGS_ACK), 20);
  onTestFinished(() => clearInterval(write));
  // What it sends then is answered by a reset.
  await expect(once(socket, "close")).rejects.toThrow(/ECONNRESET|EPIPE/);
});

it("calls that are cancelled with their request do not reach the pipeline", async () => {
  const { port, calls } = await listen();
  const { socket } = openSocket(port);
  const streams = Array.from({ length: 50 }, (_, index) => 1 + 2 * index);
  const frames = streams.flatMap((id) => [headers(id, false), frame(0, 1, id, EMPTY), reset(id)]);
  const good = Buffer.concat([headers(101, false), frame(0, 1, 101, EMPTY)]);
  socket.write(Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK, ...frames, good]));
  // Calls start in their order.
  await until(10_000, () => calls.length > 0);
  expect(calls).toHaveLength(1);
});

it("a connection that cancels 500 calls stays open for others", async () => {
  const { port, calls } = await listen({}, () => new Promise(() => {}));
  const session = openSession(port);
  for (let count = 0; count < 500; count++) {
    const stream = openStream(session);
    stream.end(EMPTY);
    await until(5_000, () => calls.length === count + 1);
    stream.close(8);
  }
  expect(await call(session, "/grpc.health.v1.Health/Check")).toBe("0 OK");
});

it.each(["without a message", "that watch the health"])(
  "too many streams %s close the connection with the most of them",
  async (kind) => {
    const path = kind === "without a message" ? OVERVIEW : WATCH;
    const { port, events } = await listen({ maxStreams: 10 });
    const [many, few] = [openSession(port), openSession(port)];
    const open = (session: ClientHttp2Session) => {
      const stream = openStream(session, path);
      if (path === WATCH) stream.end(EMPTY);
      return statusOf(stream);
    };
    const lost = Array.from({ length: 8 }, () => open(many));
    await roundTrip(many);
    for (let count = 0; count < 3; count++) open(few);
    expect(await Promise.all(lost)).toEqual(Array(8).fill("closed"));
    expect(many.destroyed).toBe(true);
    expect(await call(few)).toBe("0 OK");
    expect(events).toEqual(["tooManyStreams"]);
  },
);

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

/** A message of this many bytes, with a field that the server ignores. */
function message(size: number): Buffer {
  const length = size - 5; // a tag of two bytes, and a length of three
  const prefix = [0xfa, 0x7f, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
  return Buffer.concat([Buffer.from(prefix), Buffer.alloc(length)]);
}

const LARGEST = message(MAX_MESSAGE_BYTES);
const TOO_LARGE = message(MAX_MESSAGE_BYTES + 1);

it.each([
  ["the largest message is served", grpcMessage(LARGEST), /^0 /],
  ["one byte more is refused", grpcMessage(TOO_LARGE), /^8 /],
  ["a message is compressed", grpcMessage(gzipSync(LARGEST), 1), /^0 /],
  ["a message is too large when it is decompressed", grpcMessage(gzipSync(TOO_LARGE), 1), /^8 /],
])("sizes: %s", async (_, bytes, expected) => {
  const { port } = await listen();
  const stream = openSession(port).request({
    ...{ ":method": "POST", ":path": OVERVIEW, "content-type": "application/grpc", te: "trailers" },
    "grpc-encoding": "gzip",
  });
  stream.on("error", () => {}).end(bytes);
  expect(await statusOf(stream)).toMatch(expected);
});
