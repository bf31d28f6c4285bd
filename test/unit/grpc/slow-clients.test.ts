/** Clients that read their responses slowly or not at all, and those that are gone. */
import { once } from "node:events";
import { expect, it } from "vitest";
import {
  frame,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { BEGIN, call, EMPTY, listen, openSession, openSocket, respondWith } from "./grpc-server.ts";

const KIB = 1024;

it("what the client of a connection does not read is told, from when it is made until it is sent, and can be given up with it", async () => {
  const { port, server } = await listen({}, respondWith(40 * KIB));
  const unread = () => [...server.unread()];
  const [first, second] = [0, 1].map(() => openSession(port, { initialWindowSize: 0 }));
  if (!first || !second) expect.unreachable();
  await Promise.all([first, second].map((session) => once(session, "remoteSettings")));
  const lost = [call(first), call(first)];
  await until(() => unread().some(({ bytes }) => bytes > 80 * KIB));
  const status = call(second);
  await until(() => unread().length === 2);
  const largest = unread().sort((one, other) => other.bytes - one.bytes)[0];
  largest?.close();
  expect(await Promise.all(lost)).toEqual(["closed", "closed"]);
  await until(() => first.destroyed);
  expect(unread()).toHaveLength(1);
  second.settings({ initialWindowSize: 2 ** 20 });
  expect(await status).toBe("0 OK");
  await until(() => unread().length === 0);
});

it("a client that does not reply to a ping is disconnected, also if it reads nothing", async () => {
  const { port, server } = await listen(
    { keepalive: 100, keepaliveReply: 100 },
    respondWith(16 * KIB * KIB),
  );
  for (const bytes of [
    Buffer.alloc(0),
    BEGIN,
    // More than the kernel takes.
    Buffer.concat([
      PREFACE,
      NO_FLOW_CONTROL,
      SETTINGS_ACK,
      headers(1, false),
      frame(0, 1, 1, EMPTY),
    ]),
  ]) {
    const { socket } = openSocket(port);
    socket.pause().write(bytes);
    await until(() => server.open().connections === 1);
    await until(() => server.open().connections === 0);
  }
});
