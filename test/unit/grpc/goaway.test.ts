/** The end of a connection in two steps, which proxies need. */
import { once } from "node:events";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { frame, headers } from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { BEGIN, EMPTY, listen, openSocket } from "./grpc-server.ts";

const [GOAWAY, PING, ACK] = [7, 6, 1];
const HIGHEST = 2 ** 31 - 1;
const callOn = (id: number) => Buffer.concat([headers(id, false), frame(0, 1, id, EMPTY)]);

// Otherwise what takes a second on a busy machine would be too late.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
});

/** A client that does not reply to pings by itself. */
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

/** A client that has made a call. */
async function open(port: number) {
  const client = connect(port);
  client.socket.write(Buffer.concat([BEGIN, callOn(1)]));
  await until(() => client.hasEnded(1));
  return client;
}

it.each(["a stop", "its age"])(
  "by %s: what is opened until the client knows is served",
  async (why) => {
    const { port, server, calls } = await listen(why === "its age" ? { maxConnectionAge: 99 } : {});
    const { socket, closed, frames, lastStreams, hasEnded } = await open(port);
    const stopped = why === "a stop" ? server.stop(600_000) : undefined;
    const ping = () => frames().find(({ type, flags }) => type === PING && flags === 0);
    await until(() => ping() !== undefined);
    expect(lastStreams()).toEqual([HIGHEST]);
    socket.write(callOn(3));
    await until(() => hasEnded(3));
    socket.write(frame(PING, ACK, 0, ping()?.payload ?? Buffer.alloc(8)));
    await until(() => lastStreams().length === 2);
    expect(lastStreams()).toEqual([HIGHEST, 3]);
    await Promise.all([closed, stopped]);
    expect(calls).toHaveLength(2);
  },
);

it("a client that does not reply to the ping, or leaves, delays it by a second at most", async () => {
  const { port, server } = await listen();
  const [silent, leaver] = [await open(port), await open(port)];
  const stopped = server.stop(600_000);
  await until(() => [silent, leaver].every(({ lastStreams }) => lastStreams().length === 1));
  leaver.socket.resetAndDestroy();
  vi.advanceTimersByTime(1_000);
  await Promise.all([stopped, silent.closed]);
  expect(silent.lastStreams()).toEqual([HIGHEST, 1]);
});

it("a connection that was accepted last gets an answer to its first request, also if the process stands still", async () => {
  const acceptConnection = vi.fn(() => true);
  const { port, server } = await listen({ acceptConnection });
  const client = connect(port);
  await once(client.socket, "connect");
  await until(() => acceptConnection.mock.calls.length > 0);
  const stopped = server.stop(600_000);
  client.socket.write(Buffer.concat([BEGIN, callOn(1)]));
  // Longer than it has.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 550);
  await Promise.all([stopped, client.closed]);
  expect(client.hasEnded(1)).toBe(true);
});
