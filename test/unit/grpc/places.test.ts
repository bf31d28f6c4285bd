/** The places of streams, of all connections together: who gives up its own if there are none. */
import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
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
  respondWith,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

/** REFUSED_STREAM, which clients try again. */
const REFUSED = 7;

/** A health watch, which needs no key. */
async function watch(session: ClientHttp2Session): Promise<ClientHttp2Stream> {
  const stream = openStream(session, WATCH);
  await once(stream.end(EMPTY), "data");
  return stream;
}

const codes = (streams: readonly ClientHttp2Stream[]) => streams.map(({ rstCode }) => rstCode);

it("while strangers hold all places, calls are served; neither the first stranger nor the last is refused, nor one where a key was accepted", async () => {
  const { port, events } = await listen({ maxStreams: 5 });
  const client = openSession(port);
  expect(await call(client)).toBe("0 OK");
  const own = await watch(client);
  const sessions = Array.from({ length: 4 }, () => openSession(port));
  const strangers: ClientHttp2Stream[] = [];
  for (const session of sessions) strangers.push(await watch(session));
  expect(await Promise.all([call(client), call(client)])).toEqual(["0 OK", "0 OK"]);
  await until(() => strangers.filter(({ closed }) => closed).length === 2);
  expect(codes(strangers)).toEqual([0, REFUSED, REFUSED, 0]);
  expect(events).toEqual(["tooManyStreams", "tooManyStreams"]);
  expect(own.closed).toBe(false);
  // Each alone: its connection stays.
  expect(sessions.map(({ destroyed }) => destroyed)).toEqual(Array(4).fill(false));
});

it("a call whose key was accepted keeps its place, and one for which there is none is refused alone", async () => {
  const response = Promise.withResolvers<Message>();
  const { port, calls } = await listen({ maxStreams: 3 }, () => response.promise);
  const client = openSession(port);
  const statuses = Array.from({ length: 3 }, () => call(client));
  await until(() => calls.length === 3);
  const another = openSession(port);
  for (const session of [client, another]) {
    const refused = openStream(session);
    expect(await statusOf(refused.end(EMPTY))).toBe("closed");
    expect(refused.rstCode).toBe(REFUSED);
  }
  response.resolve(emptyResponse);
  expect(await Promise.all(statuses)).toEqual(Array(3).fill("0 OK"));
  expect(await call(another)).toBe("0 OK");
});

it("a call whose response is not read loses its claim", async () => {
  const { port } = await listen({ maxStreams: 3, requestTimeout: 1_000 }, respondWith(40_000));
  const unreading = openSession(port, { initialWindowSize: 0 });
  const streams = Array.from({ length: 3 }, () => openStream(unreading).end(EMPTY));
  await Promise.all(streams.map((stream) => once(stream, "response")));
  const client = openSession(port);
  await until(async () => (await call(client)) === "0 OK");
  await until(() => codes(streams).includes(REFUSED));
});

it("a flood is refused until it is twice as much as there are places, and then its connection is closed", async () => {
  const { port, events } = await listen({ maxStreams: 10 });
  const client = openSession(port);
  expect(await call(client)).toBe("0 OK");
  const { socket, closed } = openSocket(port);
  socket.write(BEGIN);
  await once(socket, "data");
  const requests = Array.from({ length: 90 }, (_, nth) => headers(2 * nth + 1, false));
  socket.write(Buffer.concat(requests));
  const inFlood = Array.from({ length: 5 }, () => call(client));
  await closed;
  // Ten have a place, ten take the places of others, and of the rest, eleven are handed over.
  expect(events.length).toBeLessThan(40);
  for (const status of await Promise.all(inFlood)) expect(["0 OK", "closed"]).toContain(status);
  expect(await call(client)).toBe("0 OK");
});
