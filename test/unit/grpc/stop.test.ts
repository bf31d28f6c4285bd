/** The stop of the gRPC port. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Message } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { headers } from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import {
  BEGIN,
  call,
  EMPTY,
  listen,
  openSession,
  openSocket,
  openStream,
  REFLECTION,
  respondWith,
  roundTrip,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

/** Longer than any test may take, in ms: a stop that uses it up fails. */
const GRACE = 3 * TIME_LIMIT;

it("waits for open calls, late messages and slow readers; meanwhile a watch is told NOT_SERVING, and a connection that has not begun is closed", async () => {
  const response = Promise.withResolvers<Message>();
  const { port, server, calls } = await listen({}, () =>
    calls.length === 1 ? response.promise : respondWith(300_000)(),
  );
  const silent = openSocket(port);
  const session = openSession(port);
  const watch = openStream(session, WATCH);
  const statuses: number[] = [];
  watch.on("data", (bytes: Buffer) => statuses.push(bytes.at(-1) ?? 0)).end(EMPTY);
  const open = call(session);
  await until(() => calls.length === 1 && statuses.length === 1);
  const [late, reading] = [openStream(session), openStream(session)];
  const lateStatus = statusOf(late);
  await once(reading.end(EMPTY), "response");
  const goaway = once(session, "goaway");
  const stopped = server.stop(GRACE);
  await goaway;
  late.end(EMPTY);
  await silent.closed;
  let bytes = 0;
  reading.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  expect(await Promise.all([statusOf(reading), lateStatus])).toEqual(["0 OK", "0 OK"]);
  expect(bytes).toBeGreaterThan(300_000);
  await roundTrip(session);
  expect(statuses).toEqual([1, 2]);
  response.resolve(await respondWith(0)());
  expect(await open).toBe("0 OK");
  await stopped;
});

it("watches, idle and silent connections do not delay it", async () => {
  const { port, server } = await listen();
  const session = openSession(port);
  const watch = openStream(session, WATCH);
  const status = statusOf(watch);
  await once(watch.end(EMPTY), "data");
  const silent = openSocket(port);
  await call(openSession(port));
  const { socket } = openSocket(port);
  socket.write(BEGIN);
  await until(() => server.open().connections === 4);
  await server.stop(GRACE);
  await silent.closed;
  expect(await status).toBe("14 the service is stopping");
});

it("what clients hold beyond that ends with its time", async () => {
  const { port, server } = await listen({}, respondWith(40_000));
  const session = openSession(port, { initialWindowSize: 0 });
  const reflection = openStream(session, REFLECTION);
  const unread = openStream(session);
  await once(unread.end(EMPTY), "response");
  const { socket } = openSocket(port);
  socket.write(Buffer.concat([BEGIN, headers(1, false)]));
  // It does not close its side.
  const half = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void half.destroy());
  half.on("error", () => {}).write(BEGIN);
  await until(() => server.open().streams === 3 && server.open().connections === 3);
  await server.stop(1_000);
  await until(() => unread.closed && reflection.closed);
});
