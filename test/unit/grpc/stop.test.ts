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
  const { port, server, calls } = await listen({ prefaceTimeout: GRACE }, () =>
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
  expect(watch.closed).toBe(false);
  response.resolve(await respondWith(0)());
  expect(await open).toBe("0 OK");
  await stopped;
});

it("watches, reflection, idle and silent connections, and requests without an end do not delay it", async () => {
  const { port, server } = await listen({ prefaceTimeout: GRACE });
  const session = openSession(port);
  const watch = openStream(session, WATCH);
  await once(watch.end(EMPTY), "data");
  const reflection = openStream(session, REFLECTION);
  await roundTrip(session);
  const silent = openSocket(port);
  await once(silent.socket, "connect");
  await call(openSession(port));
  for (const bytes of [[BEGIN], [BEGIN, headers(1, false)]]) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).write(Buffer.concat(bytes));
    await once(socket, "data");
  }
  await server.stop(GRACE);
  await silent.closed;
  // REFUSED_STREAM, which clients read as UNAVAILABLE.
  await until(() => watch.closed && reflection.closed);
  expect([watch.rstCode, reflection.rstCode]).toEqual([7, 7]);
});
