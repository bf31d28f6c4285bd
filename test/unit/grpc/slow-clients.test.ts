/** Clients that send their requests, or read their responses, slowly or not at all. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { GetOverviewResponseSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import {
  headers,
  frame as http2Frame,
  PREFACE,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { frame } from "../../support/clients/raw-clients.ts";
import { until } from "../../support/poll.ts";
import {
  call,
  EMPTY,
  listen,
  OVERVIEW,
  openSession,
  openSocket,
  openStream,
  roundTrip,
  statusOf,
} from "./grpc-server.ts";

/** In ms; the tests wait for it. */
const TIMEOUT = 300;
const KIB = 1024;

/** A response of some size in bytes. */
const response = (size: number) => async () =>
  create(GetOverviewResponseSchema, {
    monthlyEarnings: [{ month: "x".repeat(size) }],
  });

describe("a call fails with DEADLINE_EXCEEDED after the request timeout if its message", () => {
  it.each([
    ["does not begin", Buffer.alloc(0)],
    ["begins and does not end", EMPTY.subarray(0, 3)],
    ["is complete, but the request is not", EMPTY],
  ])("%s", async (_, bytes) => {
    const { port, calls, events } = await listen({ requestTimeout: TIMEOUT });
    const session = openSession(port);
    const start = performance.now();
    const stream = openStream(session);
    if (bytes.length > 0) stream.write(bytes);
    expect(await statusOf(stream)).toBe("4 the request message did not arrive in time");
    expect(performance.now() - start).toBeGreaterThan(TIMEOUT - 50);
    expect(events).toEqual(["requestTimeout"]);
    expect(calls).toHaveLength(0);
    expect(await call(session)).toBe("0 OK");
  });
});

it("a call waits for its message while others are answered", async () => {
  const { port } = await listen();
  const session = openSession(port);
  const late = openStream(session);
  const status = statusOf(late);
  expect(await call(session)).toBe("0 OK");
  await sleep(100);
  late.end(EMPTY);
  expect(await status).toBe("0 OK");
});

it("a call without a message is answered", async () => {
  const { port } = await listen();
  const session = openSession(port);
  const stream = openStream(session);
  await sleep(50);
  stream.end();
  expect(await statusOf(stream)).toMatch(/^(12|13) /);
});

it("further responses of a connection wait while its client does not read", async () => {
  const maxUnreadPerConnection = 64 * KIB;
  const { port, calls, server } = await listen({ maxUnreadPerConnection }, response(40 * KIB));
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const statuses = Array.from({ length: 100 }, () => call(session));
  await until(10_000, () => calls.length === 100);
  await roundTrip(session);
  const [unread] = server.unread();
  expect(unread?.bytes).toBeGreaterThan(64 * KIB);
  expect(unread?.bytes).toBeLessThan(64 * KIB + 2 * 40 * KIB);
  session.settings({ initialWindowSize: 2 ** 20 });
  session.setLocalWindowSize(2 ** 24);
  expect(new Set(await Promise.all(statuses))).toEqual(new Set(["0 OK"]));
});

it("responses that wait are sent when the client gives up the one ahead of them", async () => {
  const { port, calls } = await listen({ maxUnreadPerConnection: KIB }, response(40 * KIB));
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const first = openStream(session);
  first.end(EMPTY);
  await until(10_000, () => calls.length === 1);
  const second = call(session);
  await until(10_000, () => calls.length === 2);
  first.close(8);
  session.settings({ initialWindowSize: 2 ** 20 });
  expect(await second).toBe("0 OK");
});

it("a response that waits is forgotten when its call ends", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const messages: WeakRef<Message>[] = [];
  const { port } = await listen({ maxUnreadPerConnection: KIB }, async () => {
    const message = await response(40 * KIB)();
    messages.push(new WeakRef(message));
    return message;
  });
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  call(session);
  await until(10_000, () => messages.length === 1);
  const second = session.request({
    ...{ ":method": "POST", ":path": OVERVIEW, "content-type": "application/grpc", te: "trailers" },
    "grpc-timeout": "200m",
  });
  second.on("error", () => {}).end(EMPTY);
  await until(10_000, () => messages.length === 2);
  // The status of a call without a message needs no credit of the client.
  expect(await statusOf(second)).toMatch(/^4 |^closed/);
  await until(10_000, () => {
    collectGarbage();
    return messages[1]?.deref() === undefined;
  });
});

it("reflection requests are not read while the client does not read the responses", async () => {
  const { port } = await listen();
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const stream = openStream(session, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
  // 40,000 requests for the list of services.
  stream.write(Buffer.concat(Array<Buffer>(40_000).fill(frame(Buffer.from([0x3a, 0])))));
  for (let turns = 0; turns < 100; turns++) await roundTrip(session);
  expect(stream.writableLength).toBeGreaterThan(100 * KIB);
});

it("a response larger than the limit is sent", async () => {
  const { port } = await listen({ maxUnreadPerConnection: 64 * KIB }, response(1_000 * KIB));
  const session = openSession(port);
  expect(await Promise.all([call(session), call(session), call(session)])).toEqual(
    Array(3).fill("0 OK"),
  );
});

/** SETTINGS_INITIAL_WINDOW_SIZE of 0, and WINDOW_UPDATE of stream 1 by one byte. */
const NO_WINDOW = http2Frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
const ONE_BYTE = http2Frame(8, 0, 1, Buffer.from([0, 0, 0, 1]));

it.each([
  ["does not read a response", []],
  ["reads a byte of it now and then", Array<Buffer>(20).fill(ONE_BYTE)],
])("the connection is closed after the response timeout if the client %s", async (_, updates) => {
  const { port, events } = await listen({ responseTimeout: TIMEOUT }, response(40 * KIB));
  const { socket, closed } = openSocket(port);
  socket.write(Buffer.concat([PREFACE, NO_WINDOW, SETTINGS_ACK, headers(1, false)]));
  socket.write(http2Frame(0, 1, 1, EMPTY));
  for (const update of updates) {
    if (socket.destroyed) break;
    socket.write(update);
    await sleep(50);
  }
  const duration = await closed;
  expect(duration).toBeGreaterThan(TIMEOUT - 50);
  expect(duration).toBeLessThan(TIMEOUT + 1_000);
  expect(events).toEqual(["responseTimeout"]);
});

it("the connections with unread bytes are listed and can be closed", async () => {
  const { port, server } = await listen({}, response(40 * KIB));
  const reader = openSession(port);
  expect(await call(reader)).toBe("0 OK");
  const session = openSession(port, { initialWindowSize: 0 });
  await once(session, "remoteSettings");
  const status = call(session);
  await until(10_000, () => [...server.unread()].length > 0);
  const [unread, ...others] = server.unread();
  expect(others).toEqual([]);
  expect(unread?.bytes).toBeGreaterThan(40 * KIB);
  unread?.close();
  expect(await status).toBe("closed");
  await until(10_000, () => [...server.unread()].length === 0);
  expect(await call(reader)).toBe("0 OK");
});
