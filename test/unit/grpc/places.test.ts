/** The places of streams, of all connections together: who gives up its own if there are none. */
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
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
  roundTrip,
  statusOf,
  WATCH,
} from "./grpc-server.ts";

/** REFUSED_STREAM, which clients try again. */
const REFUSED = 7;

/** A health watch, on a connection of its own. */
async function watch(port: number, session = openSession(port)): Promise<ClientHttp2Stream> {
  const stream = openStream(session, WATCH);
  stream.end(EMPTY);
  await once(stream, "data");
  return stream;
}

/** So many watches, each on a connection of its own, one after the other. */
async function watches(port: number, count: number): Promise<ClientHttp2Stream[]> {
  const streams: ClientHttp2Stream[] = [];
  while (streams.length < count) streams.push(await watch(port));
  return streams;
}

const codes = (streams: readonly ClientHttp2Stream[]) => streams.map(({ rstCode }) => rstCode);

it("a client with several calls at once is served while strangers hold all places, one on each connection", async () => {
  const { port, events } = await listen({ maxStreams: 20 });
  const strangers = await watches(port, 20);
  const sessions = strangers.map(({ session }) => session);
  const client = openSession(port);
  await once(client, "remoteSettings");
  const statuses = await Promise.all(Array.from({ length: 4 }, () => call(client)));
  expect(statuses).toEqual(Array(4).fill("0 OK"));
  expect(events).toEqual(Array(4).fill("tooManyStreams"));
  const refused = strangers.filter(({ closed }) => closed);
  expect(codes(refused)).toEqual(Array(4).fill(REFUSED));
  for (const session of sessions) expect(session?.destroyed).toBe(false);
});

it("of strangers, neither the one that came first nor the one that came last is refused", async () => {
  const { port } = await listen({ maxStreams: 3 });
  const strangers = await watches(port, 4);
  await until(() => strangers.some(({ closed }) => closed));
  expect(codes(strangers)).toEqual([0, REFUSED, 0, 0]);
});

it("a stranger on a connection where a key was accepted is refused after all others", async () => {
  const { port } = await listen({ maxStreams: 3 });
  const client = openSession(port);
  expect(await call(client)).toBe("0 OK");
  const own = await watch(port, client);
  const strangers = await watches(port, 4);
  await until(() => strangers.filter(({ closed }) => closed).length === 2);
  expect(own.closed).toBe(false);
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
    refused.end(EMPTY);
    expect(await statusOf(refused)).toBe("closed");
    expect(refused.rstCode).toBe(REFUSED);
  }
  response.resolve(emptyResponse);
  expect(await Promise.all(statuses)).toEqual(Array(3).fill("0 OK"));
  expect(await call(another)).toBe("0 OK");
});

it("a call whose response is not read loses its claim", async () => {
  const { port } = await listen({ maxStreams: 3, requestTimeout: 1_000 }, respondWith(40_000));
  const unreading = openSession(port, { initialWindowSize: 0 });
  const streams = Array.from({ length: 3 }, () => openStream(unreading));
  for (const stream of streams) stream.end(EMPTY);
  await Promise.all(streams.map((stream) => once(stream, "response")));
  const client = openSession(port);
  await until(async () => (await call(client)) === "0 OK");
  await until(() => streams.some(({ rstCode }) => rstCode === REFUSED));
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
  await roundTrip(client);
  expect(client.destroyed).toBe(false);
  expect(await call(client)).toBe("0 OK");
});
