/** Keepalive and the age of connections. */
import { once } from "node:events";
import type { Message } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { PREFACE, SETTINGS, SETTINGS_ACK } from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { call, emptyResponse, listen, openSession, openSocket } from "./grpc-server.ts";

it("a connection that reaches its age is closed gracefully: its calls are finished", async () => {
  const response = Promise.withResolvers<Message>();
  const { port, calls } = await listen({ maxConnectionAge: 2_000 }, () => response.promise);
  const session = openSession(port);
  const goaway = once(session, "goaway");
  const status = call(session);
  await until(() => calls.length === 1);
  const [code] = await goaway;
  expect(code).toBe(0);
  response.resolve(emptyResponse);
  expect(await status).toBe("0 OK");
  await until(() => session.destroyed);
});

it("a client that does not reply to a ping is disconnected", async () => {
  const { port } = await listen({ keepalive: 100, keepaliveReply: 100 });
  const { socket, closed } = openSocket(port);
  socket.write(Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK]));
  await closed;
});
