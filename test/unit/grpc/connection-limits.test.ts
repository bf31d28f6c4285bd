/** Limits of a gRPC connection before and beside its calls. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  frame,
  headers,
  PREFACE,
  reset,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import {
  call,
  EMPTY,
  listen,
  openSession,
  openSocket,
  openStream,
  statusOf,
} from "./grpc-server.ts";

/** In ms; the test waits for it. */
const TIMEOUT = 300;

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
    ["does not acknowledge SETTINGS", [Buffer.concat([PREFACE, SETTINGS])]],
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
    const duration = await closed;
    expect(duration).toBeGreaterThan(TIMEOUT - 50);
    expect(duration).toBeLessThan(TIMEOUT + 1_000);
    expect(events).toEqual(["prefaceTimeout"]);
    await writing;
  });
});

it.each([
  ["HTTP/1.1", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"],
  ["a TLS greeting", `\u0016\u0003\u0001\u0002\u0000\u0001${"a".repeat(30)}`],
])("%s instead of HTTP/2 closes the connection, and is counted", async (_, greeting) => {
  const { port, events } = await listen();
  const { socket, closed } = openSocket(port);
  socket.write(Buffer.from(greeting, "latin1"));
  await closed;
  expect(events).toEqual(["notHttp2"]);
});

it("a connection whose start is complete stays open without a call", async () => {
  const { port } = await listen({ prefaceTimeout: TIMEOUT });
  const session = openSession(port);
  await sleep(2 * TIMEOUT);
  expect(await call(session)).toBe("0 OK");
});

it("1,000 streams before SETTINGS are acknowledged close the connection", async () => {
  const { port, events } = await listen();
  const { socket, received, closed } = openSocket(port);
  const streams = Array.from({ length: 2_000 }, (_, index) => 1 + 2 * index);
  const frames = streams.flatMap((id) => [headers(id, true), reset(id)]);
  socket.write(Buffer.concat([PREFACE, SETTINGS, ...frames]));
  await closed;
  expect(events).toEqual(["tooManyEarlyStreams"]);
  // GOAWAY with ENHANCE_YOUR_CALM.
  expect(received().includes(Buffer.from([0, 0, 0, 11]))).toBe(true);
});

it("calls that are cancelled in the packet that starts them do not reach the pipeline", async () => {
  const { port, calls } = await listen();
  const { socket, received } = openSocket(port);
  const streams = Array.from({ length: 200 }, (_, index) => 1 + 2 * index);
  const frames = streams.flatMap((id) => [headers(id, false), frame(0, 1, id, EMPTY), reset(id)]);
  const good = Buffer.concat([headers(401, false), frame(0, 1, 401, EMPTY)]);
  socket.write(Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK, ...frames, good]));
  await until(10_000, () => calls.length > 0);
  await until(10_000, () => received().includes(Buffer.from([0, 0, 1, 0x91])));
  expect(calls).toHaveLength(1);
});

it("a connection with too many cancelled calls is closed when its other calls have ended", async () => {
  const release = Promise.withResolvers<never>();
  const { port, calls } = await listen({ maxCancels: 20 }, () => release.promise);
  const session = openSession(port);
  const other = openStream(session);
  other.end(EMPTY);
  const status = statusOf(other);
  await until(10_000, () => calls.length === 1);
  for (let count = 0; count < 20; count++) {
    const cancelled = openStream(session);
    cancelled.end(EMPTY);
    await until(10_000, () => calls.length === 2 + count);
    cancelled.close(8);
  }
  await until(10_000, () => session.closed);
  expect(session.destroyed).toBe(false);
  release.reject(new Error("the end of the call"));
  expect(await status).toMatch(/^13 /);
  await until(10_000, () => session.destroyed);
});
