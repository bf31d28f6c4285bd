/** Clients that send their requests, or read their responses, slowly or not at all. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { expect, it, onTestFinished, vi } from "vitest";
import { limitUnread } from "../../../src/net/unread.ts";
import { frame, headers, PREFACE, SETTINGS_ACK } from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import {
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

/** A session that reads nothing of its responses. */
async function openUnreading(port: number) {
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  return session;
}

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

it("what clients do not read is bounded, from when it is made until it is sent", async () => {
  const { port, server } = await listen({}, respondWith(40 * KIB));
  const events: string[] = [];
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const report = (event: string) => void events.push(event);
  limitUnread({ sources: [server.unread], maxUnreadBytes: 500 * KIB, report });
  const [most, fewer] = [await openUnreading(port), await openUnreading(port)];
  const statusesOf = (session: ClientHttp2Session, count: number) =>
    Promise.all(Array.from({ length: count }, () => call(session)));
  const kept = statusesOf(fewer, 5);
  const lost = statusesOf(most, 10);
  await until(() => {
    vi.advanceTimersByTime(250);
    return events.length > 0;
  });
  expect(await lost).toEqual(Array(10).fill("closed"));
  expect(events).toEqual(["tooManyUnreadBytes"]);
  fewer.settings({ initialWindowSize: 2 ** 20 });
  fewer.setLocalWindowSize(2 ** 24);
  expect(await kept).toEqual(Array(5).fill("0 OK"));
});

it("reflection requests are not read while the client does not read the responses", async () => {
  const { port } = await listen();
  const session = await openUnreading(port);
  const stream = openStream(session, REFLECTION);
  stream.write(Buffer.concat(Array<Buffer>(40_000).fill(QUESTION)));
  for (let turns = 0; turns < 30; turns++) await roundTrip(session);
  expect(stream.writableLength).toBeGreaterThan(100 * KIB);
});

/** SETTINGS_INITIAL_WINDOW_SIZE of 0, and WINDOW_UPDATE of stream 1 by one byte. */
const NO_WINDOW = frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
const ONE_BYTE = frame(8, 0, 1, Buffer.from([0, 0, 0, 1]));

it("a client that has not read a response in time is disconnected, even if it reads a byte now and then", async () => {
  const { port, events } = await listen({ responseTimeout: TIMEOUT }, respondWith(40 * KIB));
  const connections = [openSocket(port), openSocket(port)];
  for (const { socket } of connections) {
    socket.write(Buffer.concat([PREFACE, NO_WINDOW, SETTINGS_ACK, headers(1, false)]));
    socket.write(frame(0, 1, 1, EMPTY));
  }
  const reads = setInterval(() => connections[0]?.socket.write(ONE_BYTE), 20);
  onTestFinished(() => clearInterval(reads));
  await Promise.all(connections.map(({ closed }) => closed));
  expect(events).toEqual(["responseTimeout", "responseTimeout"]);
});

it("the connections with unread bytes are listed and can be closed", async () => {
  const { port, server } = await listen({}, respondWith(40 * KIB));
  const reader = openSession(port);
  expect(await call(reader)).toBe("0 OK");
  const session = await openUnreading(port);
  const status = call(session);
  await until(() => [...server.unread()].length > 0);
  const [unread, ...others] = server.unread();
  expect(others).toEqual([]);
  expect(unread?.bytes).toBeGreaterThan(40 * KIB);
  unread?.close();
  expect(await status).toBe("closed");
  await until(() => [...server.unread()].length === 0);
  expect(await call(reader)).toBe("0 OK");
});
