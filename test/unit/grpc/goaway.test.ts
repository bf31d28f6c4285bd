/** The end of a connection in two steps, which proxies need. */
import { once } from "node:events";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { frame, headers } from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { BEGIN, EMPTY, listen, openSocket } from "./grpc-server.ts";

const GOAWAY = 7;
const HIGHEST = 2 ** 31 - 1;
const callOn = (id: number) => Buffer.concat([headers(id, false), frame(0, 1, id, EMPTY)]);

// Otherwise what takes half a second on a busy machine would be too late.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
});

function connect(port: number) {
  const client = openSocket(port);
  // Node repeats the last one.
  const lastStreams = () => {
    const goaways = client.frames().filter(({ type }) => type === GOAWAY);
    return [...new Set(goaways.map(({ payload }) => payload.readUInt32BE()))];
  };
  const hasEnded = (stream: number) =>
    client.frames().some(({ type, flags, id }) => type === 1 && flags & 1 && id === stream);
  return { ...client, lastStreams, hasEnded };
}

it("by a stop: what is opened until the client knows is served", async () => {
  const { port, server, calls } = await listen();
  const { socket, closed, lastStreams, hasEnded } = connect(port);
  socket.write(Buffer.concat([BEGIN, callOn(1)]));
  await until(() => hasEnded(1));
  const stopped = server.stop(600_000);
  await until(() => lastStreams().length === 1);
  socket.write(callOn(3));
  await until(() => hasEnded(3));
  expect(lastStreams()).toEqual([HIGHEST]);
  await until(() => {
    vi.advanceTimersByTime(500);
    return lastStreams().length === 2;
  });
  expect(lastStreams()).toEqual([HIGHEST, 3]);
  await Promise.all([closed, stopped]);
  expect(calls).toHaveLength(2);
});

it("by its age: the same", async () => {
  const age = 10_000;
  const { port, calls } = await listen({ maxConnectionAge: age });
  const { socket, closed, lastStreams, hasEnded } = connect(port);
  socket.write(Buffer.concat([BEGIN, callOn(1)]));
  await until(() => hasEnded(1));
  vi.advanceTimersByTime(age);
  await until(() => lastStreams().length === 1);
  socket.write(callOn(3));
  await until(() => hasEnded(3));
  expect(lastStreams()).toEqual([HIGHEST]);
  vi.advanceTimersByTime(age);
  await closed;
  expect(lastStreams().at(-1)).toBe(3);
  expect(calls).toHaveLength(2);
});

it("a connection that was accepted last gets an answer to its first request, also if the process stands still", async () => {
  vi.useRealTimers();
  const { port, server } = await listen();
  const client = connect(port);
  await once(client.socket, "connect");
  await until(() => server.open().connections === 1);
  const stopped = server.stop(600_000);
  client.socket.write(Buffer.concat([BEGIN, callOn(1)]));
  // Longer than it has.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 550);
  await Promise.all([stopped, client.closed]);
  expect(client.hasEnded(1)).toBe(true);
});
