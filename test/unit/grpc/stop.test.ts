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
  emptyResponse,
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

it("waits for a stream whose message comes after it began, and for a client to read all of a response", async () => {
  const { port, server } = await listen({}, respondWith(300_000));
  const session = openSession(port);
  const [late, reading] = [openStream(session), openStream(session)];
  const statuses = Promise.all([statusOf(late), once(reading, "response")]);
  reading.end(EMPTY);
  await once(reading, "response");
  const stopped = server.stop(GRACE);
  await once(session, "goaway");
  late.end(EMPTY);
  let bytes = 0;
  reading.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  expect(await statusOf(reading)).toBe("0 OK");
  expect(bytes).toBeGreaterThan(300_000);
  expect((await statuses)[0]).toBe("0 OK");
  await stopped;
});

it("health watches, reflection, idle connections and silent ones do not delay it", async () => {
  const { port, server } = await listen({ prefaceTimeout: GRACE });
  const session = openSession(port);
  const watch = openStream(session, WATCH);
  watch.end(EMPTY);
  await once(watch, "data");
  const reflection = openStream(session, REFLECTION);
  await roundTrip(session);
  const silent = openSocket(port);
  await once(silent.socket, "connect");
  await call(openSession(port));
  await server.stop(GRACE);
  await silent.closed;
  // REFUSED_STREAM, which clients read as UNAVAILABLE.
  await until(() => watch.closed && reflection.closed);
  expect([watch.rstCode, reflection.rstCode]).toEqual([7, 7]);
});

it("strangers do not delay it: requests without an end, and connections that stay open", async () => {
  const { port, server } = await listen();
  for (const bytes of [[BEGIN], [BEGIN, headers(1, false)]]) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).write(Buffer.concat(bytes));
    await once(socket, "data");
  }
  await server.stop(GRACE);
});

it("as long as a call is open, a watch stays so and is told NOT_SERVING; a connection that has not begun is closed", async () => {
  const response = Promise.withResolvers<Message>();
  const { port, server, calls } = await listen({ prefaceTimeout: GRACE }, () => response.promise);
  const silent = openSocket(port);
  const session = openSession(port);
  const watch = openStream(session, WATCH);
  const statuses: number[] = [];
  watch.on("data", (bytes: Buffer) => statuses.push(bytes.at(-1) ?? 0)).end(EMPTY);
  const status = call(session);
  await until(() => calls.length === 1 && statuses.length === 1);
  const goaway = once(session, "goaway");
  const stopped = server.stop(GRACE);
  await until(() => statuses.length === 2);
  await goaway;
  await roundTrip(session);
  expect(statuses).toEqual([1, 2]);
  await silent.closed;
  expect(watch.closed).toBe(false);
  response.resolve(emptyResponse);
  expect(await status).toBe("0 OK");
  await stopped;
});
