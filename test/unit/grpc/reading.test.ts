/** Which connections are read in a turn of the event loop. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createReading } from "../../../src/grpc/sessions/reading.ts";

/** Connections of which it is recorded which are read, in order: `1`, and no longer read: `-1`. */
function connections(count: number) {
  const log: number[] = [];
  const reading = createReading();
  const sockets = Array.from({ length: count }, (_, index) => {
    const handle = {
      writeQueueSize: 0,
      readStart: () => log.push(index + 1),
      readStop: () => log.push(-index - 1),
    };
    const socket = Object.assign(new EventEmitter(), { _handle: handle }) as unknown as Socket;
    reading.add(socket);
    return { socket, handle };
  });
  const at = (connection: number) => {
    const found = sockets[connection - 1];
    if (found === undefined) throw new Error(`no connection ${connection}`);
    return found;
  };
  return {
    log,
    reading,
    at,
    /** Opens streams. */
    open(connection: number, streams: number) {
      for (let i = 0; i < streams; i++) reading.count(at(connection).socket);
    },
    /** What is read in the next turn. */
    async next(): Promise<number[]> {
      log.length = 0;
      await nextTurn();
      return [...log];
    },
  };
}

it("after 64 streams of all connections together nothing more is read in the turn", async () => {
  const { log, open, next } = connections(3);
  open(1, 40);
  expect(log).toEqual([]);
  open(2, 30);
  expect(log).toEqual([-1, -2, -3]);
  expect(await next()).toHaveLength(3);
});

it("connections with the fewest recent streams are read first", async () => {
  const { open, next } = connections(3);
  open(1, 70);
  open(3, 10);
  expect(await next()).toEqual([2, 3, 1]);
});

it("two busy connections are read in each turn, and all others", async () => {
  const { open, next } = connections(6);
  for (const [busy, streams] of [400, 300, 500, 600].entries()) open(busy + 1, streams);
  expect(await next()).toEqual([5, 6, 2, 1]);
  expect(await next()).toEqual([3, 4]);
});

it("a connection whose responses wait to be written is read later", async () => {
  const { open, next, at } = connections(2);
  at(1).handle.writeQueueSize = 1;
  open(2, 70);
  expect(await next()).toEqual([2]);
  at(1).handle.writeQueueSize = 0;
  expect(await next()).toEqual([1]);
});

it("a connection that is held is read when it is released", async () => {
  const { log, open, next, at, reading } = connections(2);
  reading.hold(at(1).socket);
  open(2, 70);
  expect(await next()).toEqual([2]);
  log.length = 0;
  reading.release(at(1).socket);
  expect(log).toEqual([1]);
});
