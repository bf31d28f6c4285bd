/** Clients that send their requests, or read their responses, slowly or not at all. */
import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { limitUnread } from "../../../src/net/unread.ts";
import {
  frame,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
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
const TIMEOUT = 300;
const KIB = 1024;

it("a call whose request is not complete in time fails with DEADLINE_EXCEEDED, and is not run", async () => {
  const { port, calls, events } = await listen({ requestTimeout: TIMEOUT });
  const session = openSession(port);
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
  // A busy machine may take that long, too.
  await until(async () => (await call(session)) === "0 OK");
});

it("a reflection stream may stay open between two questions", async () => {
  const { port, events } = await listen({ requestTimeout: TIMEOUT });
  const session = openSession(port);
  const stream = openStream(session, REFLECTION);
  for (let questions = 0; questions < 2; questions++) {
    stream.write(QUESTION);
    await once(stream, "data");
    // Streams have been checked several times when this one is refused.
    expect(await statusOf(openStream(session))).toMatch(/^4 /);
  }
  expect(events).toEqual(["requestTimeout", "requestTimeout"]);
});

it("what clients do not read is bounded, from when it is made until it is sent", async () => {
  let made = 0;
  const { port, server, calls } = await listen({}, () =>
    respondWith((made++ < 5 ? 40 : 60) * KIB)(),
  );
  const events: string[] = [];
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const report = (event: string) => void events.push(event);
  limitUnread({ sources: [server.unread], maxUnreadBytes: 500 * KIB, report });
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const statusesOf = (count: number) => Array.from({ length: count }, () => call(session));
  const smaller = statusesOf(5);
  await until(() => calls.length === 5);
  const larger = statusesOf(10);
  await until(() => made === 15);
  await roundTrip(session);
  await until(() => {
    vi.advanceTimersByTime(250);
    return events.length > 0;
  });
  // 800 KiB: six of the largest are too many. Their connection stays, and serves the others.
  expect(events).toEqual(Array(6).fill("tooManyUnreadBytes"));
  session.settings({ initialWindowSize: 2 ** 20 });
  session.setLocalWindowSize(2 ** 24);
  expect(await Promise.all(smaller)).toEqual(Array(5).fill("0 OK"));
  const outcomes = Map.groupBy(await Promise.all(larger), (status) => status);
  expect(outcomes.get("closed")).toHaveLength(6);
  expect(outcomes.get("0 OK")).toHaveLength(4);
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
