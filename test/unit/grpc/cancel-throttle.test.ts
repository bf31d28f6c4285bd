/** Connections whose clients cancel most of their calls. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { createCancelThrottle } from "../../../src/grpc/sessions/cancel-throttle.ts";
import { until } from "../../support/poll.ts";

/** A throttle with connections, and what it does to them: `held 1`, `released 1`, `closed 1`. */
function throttled(connections: number) {
  const log: string[] = [];
  const sockets = Array.from({ length: connections }, () => new EventEmitter() as Socket);
  const record = (event: string) => (socket: Socket) => {
    log.push(`${event} ${sockets.indexOf(socket) + 1}`);
  };
  const throttle = createCancelThrottle({
    add() {},
    count() {},
    hold: record("held"),
    release: record("released"),
  });
  for (const socket of sockets) throttle.add(socket, () => record("closed")(socket));
  const end = (connection: number, count: number, cancelled: boolean) => {
    const socket = sockets[connection - 1] as Socket;
    for (let i = 0; i < count; i++) throttle.ended(socket, cancelled);
  };
  return {
    log,
    sockets,
    cancel: (connection: number, count: number) => end(connection, count, true),
    answer: (connection: number, count: number) => end(connection, count, false),
    open: (connection: number) => throttle.opened(sockets[connection - 1] as Socket),
  };
}

it("a client that cancels two of three calls is read like any other", () => {
  const { log, cancel, answer, open } = throttled(1);
  for (let i = 0; i < 1_000; i++) {
    cancel(1, 2);
    answer(1, 1);
    open(1);
  }
  expect(log).toEqual([]);
});

it("connections with too many cancelled calls are read one after the other", async () => {
  const { log, cancel, open } = throttled(2);
  cancel(1, 129);
  cancel(2, 129);
  expect(log).toEqual(["held 1", "held 2"]);
  await until(5_000, () => log.length === 4);
  expect(log.slice(2)).toEqual(["released 1", "released 2"]);
  // They are held again as soon as they open a stream.
  open(2);
  open(2);
  open(1);
  expect(log.slice(4)).toEqual(["held 2", "held 1"]);
  await until(5_000, () => log.length === 8);
  expect(log.slice(6)).toEqual(["released 2", "released 1"]);
});

it("answered calls end that", async () => {
  const { log, cancel, answer, open } = throttled(1);
  cancel(1, 129);
  await until(5_000, () => log.length === 2);
  answer(1, 1);
  open(1);
  expect(log).toEqual(["held 1", "released 1"]);
});

it("of more than 24 such connections, the one with the most cancelled calls is closed", async () => {
  const { log, cancel } = throttled(25);
  for (let connection = 1; connection <= 25; connection++) {
    cancel(connection, connection === 7 ? 200 : 129);
  }
  await until(5_000, () => log.includes("closed 7"));
  expect(log.filter((line) => line.startsWith("closed"))).toEqual(["closed 7"]);
});

it("a connection that has closed is not read again", async () => {
  const { log, cancel, sockets } = throttled(2);
  cancel(1, 129);
  cancel(2, 129);
  sockets[0]?.emit("close");
  await until(5_000, () => log.length === 3);
  expect(log[2]).toBe("released 2");
});
