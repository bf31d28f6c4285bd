/** Clients that send their requests, or read their responses, slowly or not at all. */
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import {
  frame,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { poll, until } from "../../support/poll.ts";
import {
  BEGIN,
  call,
  EMPTY,
  listen,
  openSession,
  openSocket,
  openStream,
  QUESTION,
  REFLECTION,
  respondWith,
  roundTrip,
  statusOf,
} from "./grpc-server.ts";

/** In ms; the tests wait for it. */
const TIMEOUT = 150;
const KIB = 1024;

it("a call whose request is not complete in time fails with DEADLINE_EXCEEDED, and is not run; a reflection stream may stay open", async () => {
  const { port, calls, events } = await listen({ requestTimeout: TIMEOUT });
  const session = openSession(port);
  // A busy machine may take that long, too.
  const reflection = await poll(async () => {
    const stream = openStream(session, REFLECTION);
    stream.write(QUESTION);
    const answered = once(stream, "data").then(() => stream);
    return Promise.race([answered, statusOf(stream).then(() => undefined)]);
  });
  events.length = 0;
  // Nothing; a part of a message; a message, but not the end of the request.
  const statuses = [0, 3, EMPTY.length].map((length) => {
    const stream = openStream(session);
    if (length > 0) stream.write(EMPTY.subarray(0, length));
    return statusOf(stream);
  });
  expect(await Promise.all(statuses)).toEqual(
    Array(3).fill("4 the request message did not arrive in time"),
  );
  expect(events).toEqual(Array(3).fill("requestTimeout"));
  expect(calls).toHaveLength(0);
  await Promise.all([once(reflection, "data"), reflection.write(QUESTION)]);
  await until(async () => (await call(session)) === "0 OK");
});

it("what clients do not read is told, from when it is made until it is sent, and can be given up", async () => {
  const { port, server } = await listen({}, respondWith(40 * KIB));
  const unread = () => [...server.unread()];
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const statuses = [call(session), call(session)];
  await until(() => unread().length === 2);
  for (const { bytes } of unread()) expect(bytes).toBeGreaterThan(40 * KIB);
  unread()[0]?.close();
  expect(await statuses[0]).toBe("closed");
  // Its connection stays, and serves the others.
  session.settings({ initialWindowSize: 2 ** 20 });
  expect(await statuses[1]).toBe("0 OK");
  await until(() => unread().length === 0);
});

it("reflection requests are not read while the client does not read the responses", async () => {
  const session = openSession((await listen()).port, { initialWindowSize: 0 });
  const stream = openStream(session, REFLECTION);
  stream.write(Buffer.concat(Array<Buffer>(40_000).fill(QUESTION)));
  for (let turns = 0; turns < 30; turns++) await roundTrip(session);
  expect(stream.writableLength).toBeGreaterThan(100 * KIB);
});

/** SETTINGS_INITIAL_WINDOW_SIZE of 0, and WINDOW_UPDATE of stream 1 by one byte. */
const NO_WINDOW = frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
const ONE_BYTE = frame(8, 0, 1, Buffer.from([0, 0, 0, 1]));
const PING = frame(6, 0, 0, Buffer.alloc(8));
const RST_STREAM = 3;

it("a response that is not read in time is given up, even if a byte is read now and then, and its connection stays", async () => {
  const { port, events } = await listen({ responseTimeout: TIMEOUT }, respondWith(40 * KIB));
  const { socket, frames } = openSocket(port);
  socket.write(Buffer.concat([PREFACE, NO_WINDOW, SETTINGS_ACK]));
  for (const id of [1, 3])
    socket.write(Buffer.concat([headers(id, false), frame(0, 1, id, EMPTY)]));
  const reads = setInterval(() => socket.write(ONE_BYTE), 20);
  onTestFinished(() => clearInterval(reads));
  const ended = () => frames().filter(({ type }) => type === RST_STREAM);
  await until(() => ended().length === 2);
  expect(ended().map(({ payload }) => payload.readUInt32BE())).toEqual([11, 11]); // ENHANCE_YOUR_CALM
  expect(events).toEqual(["responseTimeout", "responseTimeout"]);
  socket.write(PING);
  await until(() => frames().some(({ type }) => type === 6));
});

it("a connection that nobody reads is closed when one of its streams should have ended", async () => {
  // More than the kernel takes.
  const { port, events } = await listen({ responseTimeout: TIMEOUT }, respondWith(16 * KIB * KIB));
  const { socket, closed } = openSocket(port);
  socket.pause();
  socket.write(Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK, headers(1, false)]));
  socket.write(frame(0, 1, 1, EMPTY));
  // It notices when it writes.
  const pings = setInterval(() => socket.write(PING), 20);
  onTestFinished(() => clearInterval(pings));
  await closed;
  expect(events).toEqual(["responseTimeout"]);
});

it("a client that does not reply to a ping is disconnected", async () => {
  const { port } = await listen({ keepalive: 100, keepaliveReply: 100 });
  const { socket, closed } = openSocket(port);
  socket.write(BEGIN);
  await closed;
});
